"""How much of a class of the demo's size is certain after lists of detections, whose author knows some of them.

The figures in docs/detail-levels.md are from here. VOCBOARD_ATTACK=whole tries what takes minutes, too.
"""

import os

import numpy as np
import pytest

from tests.attack.detections import FILLER, Claims, Counts, answer, certain

WHOLE = pytest.mark.skipif(os.environ.get("VOCBOARD_ATTACK") != "whole", reason="takes minutes")
CLASS = Counts(positives=235, objects=254)
LEAKED = 0.05  # of a class's positives, at most


def right(number: int) -> Claims:
    return np.ones(number, dtype=np.int8)


def four_of_forty_wrong() -> Claims:
    truth = right(40)
    truth[np.random.default_rng(5).choice(40, 4, replace=False)] = -1
    return truth


@pytest.mark.parametrize(
    "truth", [*(right(number) for number in (1, 12, 13, 20, 40, 100)), four_of_forty_wrong()], ids=str
)
def test_few_boxes_of_one_list_are_certain(truth: Claims) -> None:
    """With fewer objects to find, a list with some boxes wrong has the same score."""
    found = certain(truth, CLASS, [answer(truth, CLASS, range(len(truth)))], np.random.default_rng(1))
    assert len(found) <= LEAKED * CLASS.positives


@pytest.mark.parametrize("lists", [[range(20), range(40)], [range(40), range(39, -1, -1)]], ids=["halves", "reversed"])
def test_few_boxes_of_some_pairs_of_lists_are_certain(lists: list[range]) -> None:
    truth = right(40)
    answers = [answer(truth, CLASS, boxes) for boxes in lists]
    assert len(certain(truth, CLASS, answers, np.random.default_rng(1))) <= LEAKED * CLASS.positives


PREFIXES = [range(number) for number in (8, 16, 24, 32, 40)]


@pytest.mark.parametrize(
    ("truth", "lists"),
    [
        (right(20), [[0], range(20)]),
        pytest.param(right(40), [[0], range(40)], marks=WHOLE),
        pytest.param(right(40), [range(12), range(40)], marks=WHOLE),
        pytest.param(right(40), [[FILLER] * 20 + list(range(40))], marks=WHOLE),
        pytest.param(right(40), PREFIXES, marks=WHOLE),
        pytest.param(four_of_forty_wrong(), PREFIXES, marks=WHOLE),
    ],
    ids=["one box, then 20", "one box, then 40", "12, then 40", "behind 20 wrong", "five lengths", "five, four wrong"],
)
def test_what_no_display_of_scores_hides(truth: Claims, lists: list[list[int] | range]) -> None:
    """Learning the number of objects, or using a day of quota on one list, reveals for certain what is correct.

    It also shows that the search for other ground truths does not find one where there is none.
    """
    answers = [answer(truth, CLASS, list(boxes)) for boxes in lists]
    found = certain(truth, CLASS, answers, np.random.default_rng(1))
    assert len(found) > LEAKED * CLASS.positives
    assert set(found) <= set(np.flatnonzero(truth == 1).tolist())
