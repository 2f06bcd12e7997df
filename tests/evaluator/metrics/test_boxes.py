"""Boxes: the inclusive convention, and rules of overlap."""

import numpy as np
import pytest

from vocboard.evaluator.editions import Overlap
from vocboard.evaluator.metrics.boxes import best_overlapping, intersection_over_union, is_enough, pairs_within_groups


def overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return float(intersection_over_union(np.array([a], dtype=np.float64), np.array([b], dtype=np.float64))[0])


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((1, 1, 1, 1), (1, 1, 1, 1), 1.0),  # one pixel
        ((1, 1, 10, 10), (11, 1, 20, 10), 0.0),  # neighbours share no column
        ((1, 1, 10, 10), (10, 1, 19, 10), 10 / 190),  # the last column is part of a box
        ((1, 1, 10, 10), (10, 10, 1, 1), 0.0),  # upside down
        ((10, 10, 1, 1), (10, 10, 1, 1), 0.0),
        ((-5, -5, 4, 4), (1, 1, 4, 4), 16 / 100),  # outside the image
        ((1e30, 1e30, 1e30, 1e30), (1, 1, 10, 10), 0.0),
        ((-1e30, -1e30, 1e30, 1e30), (1, 1, 10, 10), pytest.approx(0.0)),
    ],
)
def test_overlap_is_that_of_inclusive_boxes(a: tuple[float, ...], b: tuple[float, ...], expected: float) -> None:
    assert overlap(a, b) == overlap(b, a) == expected


def test_whether_exactly_the_threshold_is_enough_is_the_editions_rule() -> None:
    overlaps = np.array([0.5, np.nextafter(0.5, 1)])
    assert is_enough(overlaps, Overlap(0.5, strict=False)).tolist() == [True, True]
    assert is_enough(overlaps, Overlap(0.5, strict=True)).tolist() == [False, True]


@pytest.mark.parametrize("at_most", [1, 2, 3, 100])
def test_pairs_are_the_same_whatever_the_size_of_chunks(at_most: int) -> None:
    chance = np.random.default_rng(at_most)
    found, true = chance.integers(0, 4, 20), chance.integers(1, 6, 9)
    pairs = [
        (int(f), int(t)) for chunk in pairs_within_groups(found, true, at_most) for f, t in zip(*chunk, strict=True)
    ]
    assert pairs == [(f, t) for f in range(20) for t in range(9) if found[f] == true[t]]


def test_nothing_found_or_nothing_true_overlaps_nothing() -> None:
    none, box = np.zeros((0, 4)), np.array([[1.0, 1, 2, 2]])
    group = np.array([0])
    assert best_overlapping(none, group[:0], box, group)[1].tolist() == []
    assert best_overlapping(box, group, none, group[:0])[1].tolist() == [0.0]
    assert best_overlapping(box, group, box, group + 1)[1].tolist() == [0.0]


def test_a_box_exchanged_or_outside_by_less_than_a_pixel_can_still_match() -> None:
    """So warnings may not say that such a box cannot match anything; by a pixel or more it cannot."""
    true = np.array([[1.0, 1, 1, 10]])
    for box, can in ([1.4, 1, 1.3, 10], True), ([2, 1, 1, 10], False), ([0, 1, 0.9, 10], True), ([-5, 1, 0, 10], False):
        overlap = intersection_over_union(np.array([box], dtype=float), true)
        assert is_enough(overlap, Overlap(0.4)).tolist() == [can], box
        assert (overlap > 0).tolist() == [can], box
