"""What is certain after uploads whose intervals, rank ranges and differences a leaderboard shows: at most 5 %.

VOCBOARD_ATTACK=whole searches for other truths for minutes; otherwise one kind of list of images, and lists of boxes.
"""

import os
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.attack import uploads
from tests.attack.blind import possible
from tests.attack.intervals import DECIMALS, Board, Order, certain, replicated, replicated_score
from tests.attack.labels import Labels
from vocboard.app.evaluations.eleven_points import eleven_points
from vocboard.commands.demo import EDITION
from vocboard.commands.demo.scenes import draw_world
from vocboard.commands.demo.synthetic import SEED
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Interpolation
from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.statistics.average_precision import ResampledAveragePrecision
from vocboard.worker.comparisons import shown_interval

WHOLE = pytest.mark.skipif(os.environ.get("VOCBOARD_ATTACK") != "whole", reason="takes minutes")
LEAKED = 0.05  # of a class's positives, at most
WORLD = draw_world(editions.load(EDITION), seed=SEED)
TRUTH = uploads.image_labels(WORLD, "car")
IMAGES, OBJECTS = 1000, 235  # of a class of the demo's size, for lists of boxes
TRIES = 400  # of other places of the objects in no list, for each box

Lists = Callable[[np.random.Generator], Board]


def whole_list(beginning: Order) -> Order:
    """Images that a file of classification leaves out rank last."""
    return np.concatenate([beginning, np.setdiff1d(np.arange(len(TRUTH)), beginning)])


def good(random: np.random.Generator) -> Order:
    return uploads.good_order(TRUTH, random)


LISTS: dict[str, Lists] = {
    "60 images": lambda random: Board([whole_list(random.permutation(len(TRUTH))[:60])]),
    "random": lambda random: Board([random.permutation(len(TRUTH))]),
    "good": lambda random: Board([good(random)]),
    "first 30": lambda random: Board([whole_list(good(random)[:30])]),
    "two, beside three others": lambda random: Board(
        [whole_list(random.permutation(len(TRUTH))[:60]), random.permutation(len(TRUTH))],
        [good(random) for _ in range(3)],
    ),
}


@pytest.mark.parametrize("kind", [name if name == "60 images" else pytest.param(name, marks=WHOLE) for name in LISTS])
def test_few_images_are_certain(kind: str) -> None:
    board = LISTS[kind](np.random.default_rng(7))
    assert any(board.statistics(TRUTH))  # something is shown
    most = int(LEAKED * np.count_nonzero(TRUTH == 1))
    assert len(certain(TRUTH, board, np.random.default_rng(1), most=most)) <= most


@pytest.mark.parametrize("length", [3, 6])
def test_a_list_of_few_images_has_no_interval_whatever_it_has_right(length: int) -> None:
    """With one, the author of such lists would learn most: the ends of an interval are two more scores."""
    listed = np.random.default_rng(5).permutation(np.flatnonzero(TRUTH != 0))[:length]
    rounded = set()
    for hits in possible(length):
        labels = TRUTH.copy()
        labels[listed] = np.where(hits, 1, -1)
        score = replicated(labels, listed)
        assert shown_interval(score, DECIMALS) is None
        found = score.interval()
        rounded.add((round(score.score, DECIMALS), round(found.low, DECIMALS), round(found.high, DECIMALS)))
    assert len(rounded) > 0.4 * 2**length  # of those that would otherwise be told apart


def of_boxes(
    right: NDArray[np.bool_], image: Order, elsewhere: Order
) -> tuple[tuple[float, ...], ResampledAveragePrecision]:
    """What is shown of a list of boxes, each on an object of its own if it is right, and what it is resampled by."""
    positive = np.concatenate([image[right], elsewhere]).astype(np.int32)
    judgement = Judgement(true=right, false=~right, positives=len(positive))
    resampled = ResampledAveragePrecision(judgement, image.astype(np.int32), positive, Interpolation.AREA)
    area = resampled.score()
    return (round(area, DECIMALS), *eleven_points(judgement.curve(), len(positive), [area])), resampled


def interval_of_boxes(resampled: ResampledAveragePrecision) -> object:
    return shown_interval(replicated_score(resampled, IMAGES), DECIMALS)


@pytest.mark.parametrize("number", [13, 40])
def test_few_boxes_of_a_list_that_is_all_right_are_certain(number: int) -> None:
    """With fewer objects to find, in other images, a list with a wrong box has the same score and the same interval."""
    random = np.random.default_rng(3)
    image, elsewhere = random.permutation(IMAGES)[:number], random.integers(0, IMAGES, OBJECTS - number)
    right = np.ones(number, dtype=bool)
    shown, resampled = of_boxes(right, image, elsewhere)
    interval = interval_of_boxes(resampled)
    assert interval is not None
    few, sure = int(LEAKED * OBJECTS), set(range(number))
    for box in range(number):
        if len(sure) <= few:
            break
        other = right.copy()
        other[box] = False
        alone = Judgement(true=other, false=~other, positives=OBJECTS).average_precision(Interpolation.AREA) * OBJECTS
        objects = round(alone / shown[0])
        for _ in range(TRIES):
            places = random.permutation(np.append(elsewhere, random.integers(0, IMAGES, 30)))[: objects - number + 1]
            found, changed = of_boxes(other, image, places)
            if found == shown and interval_of_boxes(changed) == interval:
                sure.remove(box)
                break
    assert len(sure) <= few


def test_hiding_an_interval_depends_only_on_the_ground_truth_or_on_how_many_images_count() -> None:
    """Of a list without a right image and of one with few, nothing is shown, so that it does not tell them apart."""
    labels: Labels = TRUTH.copy()
    negative, positive = np.flatnonzero(TRUTH == -1)[:40], np.flatnonzero(TRUTH == 1)[:5]
    for listed in (negative, np.concatenate([negative, positive]), np.concatenate([positive, negative])):
        assert shown_interval(replicated(labels, listed), DECIMALS) is None
