"""How much of a class of the demo's size is certain after lists of detections, whose author knows some of them.

The figures in docs/detail-levels.md are from here. VOCBOARD_ATTACK=whole tries what takes minutes, too.
"""

import os

import numpy as np
import pytest

from tests.attack.detections import FILLER, PARTITIONS, SEARCHES, Claims, Counts, answer, certain, with_parts
from vocboard.evaluator import editions
from vocboard.evaluator.ground_truth import DetectionTruth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Detections, Entry
from vocboard.evaluator.scores import CompetitionScores, Curve
from vocboard.evaluator.tasks.detection.scoring import DetectionScorer

IS_WHOLE = os.environ.get("VOCBOARD_ATTACK") == "whole"
WHOLE = pytest.mark.skipif(not IS_WHOLE, reason="takes minutes")
CLASS = Counts(positives=235, objects=254)
LEAKED = 0.05  # of a class's positives, at most


def right(number: int) -> Claims:
    return np.ones(number, dtype=np.int8)


def four_of_forty_wrong() -> Claims:
    truth = right(40)
    truth[np.random.default_rng(5).choice(40, 4, replace=False)] = -1
    return truth


LISTS = [
    *(right(number) for number in (1, 13, 40)),
    *(pytest.param(right(number), marks=pytest.mark.long) for number in (12, 20, 100)),
    four_of_forty_wrong(),
]


@pytest.mark.parametrize("truth", LISTS, ids=str)
@pytest.mark.parametrize("wrong", [0, 20])
def test_few_boxes_of_one_list_are_certain(truth: Claims, wrong: int) -> None:
    """With fewer objects to find, a list with some boxes wrong has the same score, also behind boxes known to be so."""
    few = int(LEAKED * CLASS.positives)
    shown = answer(truth, CLASS, [FILLER] * wrong + list(range(len(truth))))
    assert len(certain(truth, CLASS, [shown], np.random.default_rng(1), most=few)) <= few


@pytest.mark.parametrize(
    ("truth", "names"),
    [
        (right(20), ["size", "aspect"]),
        pytest.param(right(40), ["size", "aspect"], marks=pytest.mark.long),
        pytest.param(right(20), ["truncation", "occlusion", "view"], marks=pytest.mark.long),
        (right(40), ["truncation", "occlusion", "view"]),
        (four_of_forty_wrong(), ["size"]),
    ],
    ids=str,
)
def test_scores_of_some_objects_make_few_boxes_certain_because_they_are_in_steps(
    truth: Claims, names: list[str]
) -> None:
    few = int(LEAKED * CLASS.positives)
    assert len(_certain_by_parts(truth, *names, most=few)) <= few


@WHOLE
def test_scores_of_some_objects_by_all_characteristics_make_a_whole_list_certain() -> None:
    assert len(_certain_by_parts(right(20), *PARTITIONS)) == 20 > LEAKED * CLASS.positives


@WHOLE
def test_exact_scores_by_size_would_make_a_whole_list_certain() -> None:
    assert len(_certain_by_parts(right(20), "size", exact=True)) == 20 > LEAKED * CLASS.positives


def _certain_by_parts(truth: Claims, *names: str, exact: bool = False, most: int = 0) -> list[int]:
    random = np.random.default_rng(3)
    parts = {}
    for name in names:
        shares = PARTITIONS[name]
        parts[name] = tuple(random.choice(len(shares), len(truth), p=shares).tolist())
    shown = with_parts(answer(truth, CLASS, range(len(truth))), truth, CLASS, parts, exact=exact)
    return certain(truth, CLASS, [shown], np.random.default_rng(1), most=most)


@pytest.mark.parametrize(
    "lists",
    [
        [range(20), range(40)],
        pytest.param([range(12), range(40)], marks=WHOLE),
        pytest.param([range(40), range(39, -1, -1)], marks=WHOLE),
    ],
    ids=["halves", "12, then 40", "reversed"],
)
def test_few_boxes_of_some_pairs_of_lists_are_certain(lists: list[range]) -> None:
    truth = right(40)
    answers = [answer(truth, CLASS, boxes) for boxes in lists]
    few = int(LEAKED * CLASS.positives)
    assert len(certain(truth, CLASS, answers, np.random.default_rng(1), most=few)) <= few


PREFIXES = [range(number) for number in (8, 16, 24, 32, 40)]


@pytest.mark.parametrize(
    ("truth", "lists"),
    [
        (right(13), [[0], range(13)]),
        pytest.param(right(40), [[0], range(40)], marks=WHOLE),
        pytest.param(right(40), PREFIXES, marks=WHOLE),
        pytest.param(four_of_forty_wrong(), PREFIXES, marks=WHOLE),
    ],
    ids=["one box, then 13", "one box, then 40", "five lengths", "five, four wrong"],
)
def test_what_no_display_of_scores_hides(truth: Claims, lists: list[list[int] | range]) -> None:
    """Learning the number of objects, or using a day of quota on one list, reveals for certain what is correct.

    It also shows that the search for other ground truths does not find one where there is none: one search, or all of
    them with VOCBOARD_ATTACK=whole.
    """
    answers = [answer(truth, CLASS, list(boxes)) for boxes in lists]
    found = certain(truth, CLASS, answers, np.random.default_rng(1), searches=SEARCHES if IS_WHOLE else 1)
    assert len(found) > LEAKED * CLASS.positives
    assert set(found) <= set(np.flatnonzero(truth == 1).tolist())


@pytest.mark.parametrize("listed", [30, 40])
def test_objects_that_are_not_in_any_list_are_not_certain(listed: int) -> None:
    counts, truth = Counts(positives=40, objects=44), right(40)
    found = certain(truth, counts, [answer(truth, counts, range(listed))], np.random.default_rng(1), most=listed)
    assert set(found) <= set(range(listed))
    assert len(found) == 40 or listed < 40  # a perfect score: everything is in the list, and is certain


@pytest.mark.parametrize("wrong", [0, 4])
def test_results_do_not_depend_on_where_objects_are_that_no_box_matches(wrong: int) -> None:
    """This is why a list can only confirm its own boxes, whatever is shown of its scores."""
    first, second = (_scored(unlisted_from=image, wrong=wrong) for image in (100, 200))
    assert (first.primary, first.secondary, first.details) == (second.primary, second.secondary, second.details)
    for name, curve in first.curves.items():
        other = second.curves[name]
        assert isinstance(curve, Curve)
        assert isinstance(other, Curve)
        np.testing.assert_array_equal(curve.recall, other.recall)
        np.testing.assert_array_equal(curve.precision, other.precision)


def _scored(*, unlisted_from: int, wrong: int) -> CompetitionScores:
    """Score a box in each of the first 40 images, the last of them wrong; 20 more objects are in later images."""
    edition = editions.load("VOC2012")
    box = np.array([10.0, 10.0, 50.0, 50.0])
    images = np.concatenate([np.arange(40 - wrong), np.arange(20 + wrong) + unlisted_from]).astype(np.int32)
    truth = DetectionTruth(
        image=images,
        class_index=np.full(len(images), edition.classes.index("cat"), dtype=np.int16),
        box=np.tile(box, (len(images), 1)),
        difficult=np.arange(len(images)) % 10 == 9,
    )
    found = Detections(
        image=np.arange(40, dtype=np.int32), confidence=1.0 - np.arange(40) / 100, box=np.tile(box, (40, 1))
    )
    entry = Entry(edition.competitions["comp4"], ("cat",), {"cat": found})
    return DetectionScorer().score(entry, truth, edition, ImageSet(tuple(map(str, range(250)))), None)
