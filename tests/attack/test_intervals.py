"""What is certain after uploads whose intervals, rank ranges and differences a leaderboard shows: at most 5 %.

VOCBOARD_ATTACK=whole searches for other truths for minutes; otherwise single lists, which take seconds.
"""

import os
from collections.abc import Callable

import numpy as np
import pytest

from tests.attack import labels, uploads
from tests.attack.blind import possible
from tests.attack.detections import Counts, answer, to_decimals
from tests.attack.intervals import Board, BoxBoard, Boxes, Order, certain, certain_boxes, replicated
from tests.attack.labels import Labels
from tests.attack.test_demo_rules import BOXES, LEAKED, LISTS, ORDERS, WORLD
from vocboard.commands.demo.seeding import OPEN_RULES
from vocboard.worker.comparisons import shown_interval

WHOLE = pytest.mark.skipif(os.environ.get("VOCBOARD_ATTACK") != "whole", reason="takes minutes")
DECIMALS = 3  # of scores and intervals: one more than the demo shows
TRUTH = uploads.image_labels(WORLD, "car")
IMAGES, OBJECTS = 1000, Counts(positives=235, objects=250)  # of a class of the demo's size, for lists of boxes

Lists = Callable[[np.random.Generator], Board]


def whole_list(beginning: Order) -> Order:
    """Images that a file of classification leaves out rank last."""
    return np.concatenate([beginning, np.setdiff1d(np.arange(len(TRUTH)), beginning)])


def good(random: np.random.Generator) -> Order:
    return uploads.good_order(TRUTH, random)


SINGLE: dict[str, Lists] = {
    "60 images": lambda random: Board([whole_list(random.permutation(len(TRUTH))[:60])], decimals=DECIMALS),
    "random": lambda random: Board([random.permutation(len(TRUTH))], decimals=DECIMALS),
    "good": lambda random: Board([good(random)], decimals=DECIMALS),
    "first 30": lambda random: Board([whole_list(good(random)[:30])], decimals=DECIMALS),
    "two, beside three others": lambda random: Board(
        [whole_list(random.permutation(len(TRUTH))[:60]), random.permutation(len(TRUTH))],
        [good(random) for _ in range(3)],
        decimals=DECIMALS,
    ),
}
# By the rules of the demo.
IN_A_WEEK: dict[str, Lists] = {
    kind: lambda random, orders=orders: Board(orders(TRUTH, random)) for kind, orders in ORDERS.items()
}

FOUR_LISTS = (
    "four lengths to 40",
    "four lengths, 36 of 40 right",
    "1, 2, 4, then 40",
    "40 after 0, 5, 20 and 60 wrong",
    "four lengths to 60",
)


def few_images_are_certain(board: Board) -> None:
    assert len(board.lists) <= LISTS
    assert any(board.statistics(TRUTH).shown)
    most = int(LEAKED * np.count_nonzero(TRUTH == 1))
    rankings = [labels.shown(TRUTH, order, board.decimals, with_points=True) for order in board.lists]
    assert len(certain(TRUTH, board, rankings, np.random.default_rng(1), most=most)) <= most


@pytest.mark.parametrize("kind", [name if name == "60 images" else pytest.param(name, marks=WHOLE) for name in SINGLE])
def test_few_images_are_certain(kind: str) -> None:
    few_images_are_certain(SINGLE[kind](np.random.default_rng(7)))


@WHOLE
@pytest.mark.parametrize("kind", IN_A_WEEK)
def test_few_images_are_certain_by_the_rules_of_the_demo(kind: str) -> None:
    few_images_are_certain(IN_A_WEEK[kind](np.random.default_rng(2017)))


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


@pytest.mark.parametrize("kind", ["12", *(pytest.param(kind, marks=WHOLE) for kind in FOUR_LISTS)])
def test_few_boxes_of_published_lists_are_certain(kind: str) -> None:
    """By the rules of the demo. With fewer objects, in other images, lists with a wrong box look the same."""
    claims, lists = BOXES[kind]
    right = np.count_nonzero(claims == 1)
    random = np.random.default_rng(3)
    board = BoxBoard(lists, random.permutation(IMAGES)[: len(claims)].astype(np.int32), IMAGES)
    elsewhere = random.integers(0, IMAGES, OBJECTS.positives - right).astype(np.int32)
    answers = [answer(claims, OBJECTS, boxes, to_decimals(OPEN_RULES["decimals"])) for boxes in lists]
    most = int(LEAKED * OBJECTS.positives)
    assert len(certain_boxes(Boxes(claims, elsewhere), board, answers, random, most=most)) <= most


def test_hiding_an_interval_depends_only_on_the_ground_truth_or_on_how_many_images_count() -> None:
    """Of a list without a right image and of one with few, nothing is shown, so that it does not tell them apart."""
    labels: Labels = TRUTH.copy()
    negative, positive = np.flatnonzero(TRUTH == -1)[:40], np.flatnonzero(TRUTH == 1)[:5]
    for listed in (negative, np.concatenate([negative, positive]), np.concatenate([positive, negative])):
        assert shown_interval(replicated(labels, listed), DECIMALS) is None
