"""What designed uploads make certain by the rules with which the demo's challenges are open: at most 5 % of a class.

The authors know some boxes or images to be right, others to be wrong, and make use of the whole quota of two accounts
in a week. The results are those of the demo's ground truth as the server would show them, without the server:
test_demo.py compares them with what it shows. VOCBOARD_ATTACK=whole attacks every class; otherwise the one with the
fewest positives, and some of the uploads.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.attack import detections, labels, uploads
from tests.attack.detections import FILLER, Claims, Counts, answer, to_decimals
from tests.attack.labels import Labels, shown
from vocboard.app.challenges.models import Detail
from vocboard.app.challenges.rules import ChallengeRules
from vocboard.app.evaluations import eleven_points
from vocboard.commands.demo import EDITION
from vocboard.commands.demo.examples import draw_test_set
from vocboard.commands.demo.scenes import draw_world
from vocboard.commands.demo.seeding import EDITIONS, OPEN_RULES
from vocboard.commands.demo.synthetic import SEED, open_competitions
from vocboard.evaluator import editions
from vocboard.evaluator.editions import Task, read_text

LEAKED = 0.05  # of a class's positives, at most
WHOLE = os.environ.get("VOCBOARD_ATTACK") == "whole"
EDITION_OF_DEMO = editions.load(EDITION)
WORLD = draw_world(EDITION_OF_DEMO, seed=SEED)
ACCOUNTS = 2  # each with the quota, which competitions with the same ground truth share; ranks and marks add nothing
LISTS = ACCOUNTS * OPEN_RULES["quota_count"]  # in a week
FEWEST_OBJECTS, FEWEST_IMAGES, FEWEST_PEOPLE = "person", "person", "jumping"


def beginnings(*lengths: int) -> list[list[int]]:
    return [list(range(length)) for length in lengths]


def after_wrong(wrong: int, number: int) -> list[int]:
    return [FILLER] * wrong + list(range(number))


def right(number: int, *, but: int = 0) -> Claims:
    truth = np.ones(number, dtype=np.int8)
    truth[np.random.default_rng(5).choice(number, but, replace=False)] = -1
    return truth


# What the author lists, by how many boxes the author believes to be right, and how many of these are not.
BOXES: Mapping[str, tuple[Claims, list[list[int]]]] = {
    "one box": (right(1), beginnings(1)),
    "12": (right(12), beginnings(12)),
    "40": (right(40), beginnings(40)),
    "36 of 40 right": (right(40, but=4), beginnings(40)),
    "60": (right(60), beginnings(60)),
    "100": (right(100), beginnings(100)),
    "20, then 40": (right(40), beginnings(20, 40)),
    "20, then 40, 36 of them right": (right(40, but=4), beginnings(20, 40)),
    "40, then in reverse": (right(40), [list(range(40)), list(range(39, -1, -1))]),
    "one box, then 40": (right(40), beginnings(1, 40)),
    "12, then 40": (right(40), beginnings(12, 40)),
    "40 after 20 wrong": (right(40), [after_wrong(20, 40)]),
    "40 after 0, 5, 20 and 60 wrong": (right(40), [after_wrong(wrong, 40) for wrong in (0, 5, 20, 60)]),
    "four lengths to 40": (right(40), beginnings(10, 20, 30, 40)),
    "four lengths, 36 of 40 right": (right(40, but=4), beginnings(10, 20, 30, 40)),
    "1, 2, 4, then 40": (right(40), beginnings(1, 2, 4, 40)),
    "four lengths to 60": (right(60), beginnings(15, 30, 45, 60)),
    "four lengths to 100": (right(100), beginnings(25, 50, 75, 100)),
    "four lengths to 200": (right(200), beginnings(50, 100, 150, 200)),
}
QUICK_BOXES = ("40", "36 of 40 right", "one box, then 40", "40 after 20 wrong", "four lengths, 36 of 40 right")


def certain_boxes(truth: Claims, lists: Sequence[Sequence[int]], counts: Counts, *, with_points: bool = False) -> int:
    display = to_decimals(OPEN_RULES["decimals"])
    answers = [answer(truth, counts, boxes, display, with_points=with_points) for boxes in lists]
    most = int(LEAKED * counts.positives)
    return len(detections.certain(truth, counts, answers, np.random.default_rng(1), most=most))


@pytest.mark.parametrize("name", EDITION_OF_DEMO.classes if WHOLE else [FEWEST_OBJECTS])
@pytest.mark.parametrize("kind", BOXES if WHOLE else QUICK_BOXES)
def test_few_boxes_of_designed_lists_are_certain(kind: str, name: str) -> None:
    counts = uploads.objects_of(WORLD, name)
    truth, lists = BOXES[kind]
    assert len(lists) <= LISTS
    assert certain_boxes(truth, lists, counts, with_points=True) <= LEAKED * counts.positives


SIZES = (Counts(206, 212), Counts(459, 576), Counts(1201, 1541))
# All that CI tries at the smallest size, where a box is the largest share of the score, and one at the others.
QUICK_SIZES = [
    *((kind, SIZES[0]) for kind in ("36 of 40 right", "40 after 20 wrong", "four lengths to 60")),
    *(("36 of 40 right", counts) for counts in SIZES[1:]),
]


@pytest.mark.parametrize(("kind", "counts"), product(BOXES, SIZES) if WHOLE else QUICK_SIZES, ids=str)
def test_few_boxes_are_certain_at_the_size_of_voc2007_where_points_are_shown(kind: str, counts: Counts) -> None:
    """By the defaults of new challenges: `curves`, two decimals, two submissions a week, of two accounts."""
    defaults = ChallengeRules(title="")
    assert (defaults.detail, defaults.decimals, defaults.quota_count) == (Detail.CURVES, OPEN_RULES["decimals"], 2)
    truth, lists = BOXES[kind]
    assert len(truth) < counts.positives / 2 or kind == "four lengths to 200"
    assert certain_boxes(truth, lists, counts, with_points=True) <= LEAKED * counts.positives


@pytest.mark.skipif(not WHOLE, reason="takes half a minute")
def test_points_at_low_recalls_would_make_a_list_certain_that_begins_with_boxes_known_to_be_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So this test can fail, and this is why points begin at half of the positives."""
    monkeypatch.setattr(detections, "SEARCHES", 1)
    monkeypatch.setattr(eleven_points, "SHOWN_FROM", 1)
    counts = Counts(positives=120, objects=130)
    assert certain_boxes(right(13), [after_wrong(6, 13)], counts, with_points=True) == 13 > LEAKED * counts.positives


Order = NDArray[np.intp]


def known_first(truth: Labels, random: np.random.Generator, *, positive: int, wrong: int = 0) -> Order:
    """Images known to be negative, others known to be positive, and the rest in random order."""
    first = np.concatenate(
        [
            random.choice(np.flatnonzero(truth == label), number, replace=False)
            for label, number in ((-1, wrong), (1, positive))
        ]
    )
    return np.concatenate([first, random.permutation(np.setdiff1d(np.arange(len(truth)), first))])


ORDERS: Mapping[str, Callable[[Labels, np.random.Generator], list[Order]]] = {
    "random": lambda truth, random: [random.permutation(len(truth))],
    "good": lambda truth, random: [uploads.good_order(truth, random)],
    "40 known": lambda truth, random: [known_first(truth, random, positive=40)],
    "40 known after 20 wrong": lambda truth, random: [known_first(truth, random, positive=40, wrong=20)],
    "four, one of each": lambda truth, random: [
        random.permutation(len(truth)),
        uploads.good_order(truth, random),
        known_first(truth, random, positive=40),
        known_first(truth, random, positive=40, wrong=20),
    ],
}


def certain_items(truth: Labels, kind: str, *, with_points: bool = True) -> int:
    orders = ORDERS[kind](truth, np.random.default_rng(2017))
    assert len(orders) <= LISTS
    rankings = [shown(truth, order, OPEN_RULES["decimals"], with_points=with_points) for order in orders]
    most = int(LEAKED * np.count_nonzero(truth == 1))
    return len(labels.certain(truth, rankings, np.random.default_rng(1), most=most))


@pytest.mark.parametrize("name", EDITION_OF_DEMO.classes if WHOLE else [FEWEST_IMAGES])
@pytest.mark.parametrize("kind", ORDERS if WHOLE else [*ORDERS][:-1])  # four orders take half a minute
def test_few_images_of_designed_orders_are_certain(kind: str, name: str) -> None:
    truth = uploads.image_labels(WORLD, name)
    assert certain_items(truth, kind) <= LEAKED * np.count_nonzero(truth == 1)


@pytest.mark.parametrize("name", EDITION_OF_DEMO.actions if WHOLE else [FEWEST_PEOPLE])
@pytest.mark.parametrize("kind", ORDERS if WHOLE else ["40 known after 20 wrong"])
def test_few_people_of_designed_orders_are_certain(kind: str, name: str) -> None:
    truth = uploads.person_labels(WORLD, name)
    assert certain_items(truth, kind) <= LEAKED * np.count_nonzero(truth == 1)


def test_a_list_of_right_layouts_would_be_certain_because_the_number_of_people_is_public() -> None:
    """What docs/detail-levels.md says, and why the open test set has no layouts."""
    people = sum(len(scene.objects) for scene in WORLD.sets[Task.LAYOUT, uploads.IMAGE_SET])
    shown = {right: round(right / people, OPEN_RULES["decimals"]) for right in (47, 46)}
    assert (people, shown) == (279, {47: 0.17, 46: 0.16})
    offered = open_competitions(EDITION_OF_DEMO)
    assert {EDITION_OF_DEMO.competitions[key].task for key in offered} == {
        one.task for one in EDITION_OF_DEMO.competitions.values()
    } - {Task.LAYOUT, Task.SEGMENTATION}


@pytest.mark.skipif(not WHOLE, reason="its classes have more positives than those above, and a competition less")
@pytest.mark.parametrize("slug", ["orchard-2026", "harbour-2025"])
def test_few_are_certain_in_the_open_examples(slug: str) -> None:
    edition = read_text((EDITIONS / f"{slug[:-5]}.toml").read_text(encoding="utf-8"), slug)
    world = draw_test_set(slug, edition)
    for name in edition.classes:
        counts = uploads.objects_of(world, name)
        for kind, (truth, lists) in BOXES.items():
            if len(lists) <= OPEN_RULES["quota_count"]:
                assert certain_boxes(truth, lists, counts) <= LEAKED * counts.positives, (name, kind)
        if Task.CLASSIFICATION in {one.task for one in edition.competitions.values()}:
            images = uploads.image_labels(world, name)
            for kind in ("random", "good", "40 known", "40 known after 20 wrong"):
                assert certain_items(images, kind, with_points=False) <= LEAKED * np.count_nonzero(images == 1), (
                    name,
                    kind,
                )
