"""What somebody makes certain who knows nothing but the names of the images: lists of some images each, decoded.

A list of a few images has few possible results, and its average precision tells which: see Whitehill, "Exploiting an
Oracle that Reports AUC Scores in Machine Learning Contests". The author is granted how many positives there are. The
results are those of the demo's ground truth as the server would show them, without the server.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.attack import uploads
from tests.attack.blind import possible
from tests.attack.labels import Labels
from vocboard.app.evaluations.eleven_points import eleven_points
from vocboard.commands.demo import EDITION
from vocboard.commands.demo.scenes import draw_world
from vocboard.commands.demo.seeding import OPEN_RULES
from vocboard.commands.demo.synthetic import SEED
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Interpolation
from vocboard.evaluator.metrics.precision_recall import Judgement

LEAKED = 0.05  # of a class's positives, at most, in a week
EDITION_OF_DEMO = editions.load(EDITION)
WORLD = draw_world(EDITION_OF_DEMO, seed=SEED)
LENGTHS = (3, 4, 6, 8)
ACTIONS = 4  # competitions with the same ground truth: trained on two kinds of data, with boxes and without


def shown(hits: NDArray[np.bool_], positives: int, objects: int, decimals: int) -> tuple[float, ...]:
    """What is shown of a list: average precision, the same with difficult images counted, and the points."""
    of_list = Judgement(true=hits, false=~hits, positives=positives)
    with_difficult = Judgement(true=hits, false=~hits, positives=objects)
    areas = [judgement.average_precision(Interpolation.AREA) for judgement in (of_list, with_difficult)]
    return (*(round(area, decimals) for area in areas), *eleven_points(of_list.curve(), positives, areas))


def share_certain(labels: Labels, length: int, lists: int, decimals: int) -> float:
    """Submit lists of random images, no image twice; return the share of the positives that is certain then."""
    positives, objects = int(np.count_nonzero(labels == 1)), int(np.count_nonzero(labels >= 0))
    candidates = possible(length)
    answers = [shown(hits, positives, objects, decimals) for hits in candidates]
    certain: dict[tuple[float, ...], NDArray[np.bool_]] = {}
    for hits, answer in zip(candidates, answers, strict=True):
        certain[answer] = certain.get(answer, hits) & hits
    order = np.random.default_rng(5).permutation(np.flatnonzero(labels != 0))  # who meets a difficult one, has bad luck
    found = 0
    for number in range(lists):
        hits = labels[order[number * length :][:length]] == 1
        found += int(certain[shown(hits, positives, objects, decimals)].sum())
    return found / positives


def image_labels() -> dict[str, Labels]:
    return {name: uploads.image_labels(WORLD, name) for name in EDITION_OF_DEMO.classes}


def person_labels() -> dict[str, Labels]:
    return {name: uploads.person_labels(WORLD, name) for name in EDITION_OF_DEMO.actions}


@pytest.mark.parametrize("length", LENGTHS)
def test_a_week_of_the_demos_quota_makes_few_positives_certain(length: int) -> None:
    quota, decimals = OPEN_RULES["quota_count"], OPEN_RULES["decimals"]
    of_images = [share_certain(one, length, 2 * quota, decimals) for one in image_labels().values()]
    of_people = [share_certain(one, length, ACTIONS * quota, decimals) for one in person_labels().values()]
    assert max(of_images) <= LEAKED
    assert max(of_people) <= LEAKED


def test_with_five_a_day_and_four_decimals_a_week_would_reveal_much() -> None:
    """So this test can fail."""
    assert share_certain(image_labels()["car"], 8, 7 * 2 * 5, 4) > 4 * LEAKED
