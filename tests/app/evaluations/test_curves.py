"""Curves and confusion matrices, as they are stored and as they are shown."""

import zlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from vocboard.app.evaluations.confusion_shares import confusion_shares
from vocboard.app.evaluations.curves import corners, pack, plot_points, unpack
from vocboard.app.evaluations.eleven_points import HIGHEST, ceilings, eleven_points
from vocboard.evaluator.editions import RocRule
from vocboard.evaluator.metrics.precision_recall import ELEVEN_RECALLS, eleven_point_average
from vocboard.evaluator.metrics.roc import RankedItems, area_under_curve
from vocboard.evaluator.names import CurveKind
from vocboard.evaluator.scores import Curve, RocCurve

NAN = float("nan")


def curve_of(is_right: NDArray[np.bool_], positives: int) -> Curve:
    right = np.cumsum(is_right)
    return Curve(right / positives, right / np.arange(1, len(is_right) + 1))


def test_unpacks_every_corner_exactly() -> None:
    curve = curve_of(np.random.default_rng(7).random(1000) < 0.3, positives=400)
    expected, unpacked = corners(curve), unpack(pack(curve), CurveKind.PRECISION_RECALL)
    assert isinstance(expected, Curve)
    assert isinstance(unpacked, Curve)
    assert set(zip(expected.recall, expected.precision, strict=True)) <= set(
        zip(curve.recall, curve.precision, strict=True)
    )
    assert_array_equal(unpacked.recall, expected.recall)
    assert_array_equal(unpacked.precision, expected.precision)


@given(arrays(np.bool_, st.integers(0, 200)), st.integers(0, 250), st.integers(1, 12))
def test_what_is_stored_is_plotted_as_the_whole_curve(is_right: NDArray[np.bool_], unfound: int, decimals: int) -> None:
    positives = int(np.count_nonzero(is_right)) + unfound
    curve = curve_of(is_right, positives) if positives else Curve(np.full(len(is_right), NAN), np.zeros(len(is_right)))
    stored = unpack(pack(curve), CurveKind.PRECISION_RECALL)
    assert plot_points(stored, decimals) == plot_points(curve, decimals)
    scores = [0.5] if not positives or not len(is_right) else [eleven_point_average(curve.recall, curve.precision)]
    assert eleven_points(corners(curve), positives, scores) == eleven_points(curve, positives, scores)


@pytest.mark.parametrize("rule", RocRule)
@given(
    is_positive=arrays(np.bool_, st.integers(0, 200)),
    confidence=arrays(np.int8, 200, elements=st.integers(0, 20)),
    decimals=st.integers(1, 12),
)
def test_what_is_stored_of_an_roc_is_plotted_as_the_whole(
    rule: RocRule, is_positive: NDArray[np.bool_], confidence: NDArray[np.int8], decimals: int
) -> None:
    ranked = -np.sort(-confidence[: len(is_positive)].astype(np.float64))
    curve = RankedItems(ranked, is_positive, ~is_positive).curve(rule)
    assert plot_points(unpack(pack(curve), CurveKind.ROC), decimals) == plot_points(curve, decimals)
    positives = int(np.count_nonzero(is_positive))
    assert eleven_points(corners(curve), positives, []) == eleven_points(curve, positives, [])


def test_a_curve_of_many_results_takes_little_space() -> None:
    curve = curve_of(np.random.default_rng(5).random(50_000) < 0.01, positives=600)
    assert len(pack(curve)) < 16 * 2 * 600


def test_unpacks_every_point_where_all_were_packed() -> None:
    recall, precision = np.array([0.5, 0.5, 0.5, 1.0]), np.array([1.0, 0.5, 1 / 3, 0.5])
    unpacked = unpack(zlib.compress(np.concatenate([recall, precision]).tobytes()), CurveKind.PRECISION_RECALL)
    assert isinstance(unpacked, Curve)
    assert_array_equal(unpacked.recall, recall)
    assert_array_equal(unpacked.precision, precision)


def test_unpacks_a_curve_without_points() -> None:
    unpacked = unpack(pack(Curve(np.array([]), np.array([]))), CurveKind.PRECISION_RECALL)
    assert isinstance(unpacked, Curve)
    assert len(unpacked.recall) == 0


def test_unpacks_the_corners_of_an_roc() -> None:
    curve = RocCurve(np.array([0.0, 1 / 3, 2 / 3, 1.0, 1.0]), np.array([0.0, 0.5, 0.5, 0.5, 1.0]))
    unpacked = unpack(pack(curve), CurveKind.ROC)
    assert isinstance(unpacked, RocCurve)
    assert_array_equal(unpacked.false_positive_rate, [0, 1 / 3, 1, 1])
    assert_array_equal(unpacked.true_positive_rate, [0, 0.5, 0.5, 1])


def test_an_roc_is_drawn_as_the_lines_whose_area_is_its_score() -> None:
    curve = RocCurve(np.array([0.0, 0.0, 0.25, 0.25, 0.5, 1.0]), np.array([0.0, 0.5, 0.5, 0.75, 1.0, 1.0]))
    points = plot_points(curve, 4)
    assert points == [(0, 0), (0, 0.5), (0.25, 0.5), (0.25, 0.75), (0.5, 1), (1, 1)]
    drawn = sum((right[0] - left[0]) * (left[1] + right[1]) / 2 for left, right in pairwise(points))
    assert drawn == area_under_curve(curve)


def test_an_roc_without_negatives_is_not_drawn() -> None:
    assert plot_points(RocCurve(np.array([0.0, NAN, 1.0]), np.array([0.0, 1.0, 1.0])), 4) == []


def test_leaves_out_undefined_points() -> None:
    curve = Curve(np.array([0.0, 0.5, 1.0]), np.array([NAN, 1.0, 0.5]))
    assert plot_points(curve, 4) == [(0.5, 1.0), (1.0, 0.5)]
    assert plot_points(Curve(np.array([NAN]), np.array([0.0])), 4) == []


def test_rounds_and_drops_repeated_points() -> None:
    curve = Curve(np.array([0.11, 0.12, 0.5]), np.array([0.91, 0.93, 0.3]))
    assert plot_points(curve, 1) == [(0.1, 0.9), (0.5, 0.3)]


def test_thinned_points_draw_the_same_line() -> None:
    """Whatever is left out lies on the vertical between its neighbours: between two points of the same recall."""
    random = np.random.default_rng(11)
    curve = curve_of(random.random(500) < 0.2, positives=120)
    points = plot_points(curve, 12)
    kept = set(points)
    assert len(points) < 300
    for recall, precision in zip(curve.recall.round(12), curve.precision.round(12), strict=True):
        column = [y for x, y in points if x == recall]
        assert (recall, precision) in kept or min(column) <= precision <= max(column)


def test_the_eleven_points_of_an_roc_do_not_show_how_many_of_the_first_items_are_positive() -> None:
    first, second = (RocCurve(np.array([0.0, 0.0, 0.05, 1.0]), np.array([0.0, rate, 0.5, 1.0])) for rate in (0.25, 0.5))
    assert eleven_points(first, 4, []) == eleven_points(second, 4, []) == [0.0, *[0.5] * 9, 1.0]


def test_the_ceilings_are_those_of_the_first_true_positive_at_each_recall() -> None:
    """Of more than 32 positives, the highest of all is the only ceiling."""
    for positives in range(1, 200):
        recalls = [number / positives for number in range(positives + 1)]
        hits = [next(n for n, recall in enumerate(recalls) if recall >= least) for least in ELEVEN_RECALLS[5:]]
        expected = [min(n / (n + 1), HIGHEST) for n in (*[hits[0]] * 5, *hits)]
        assert ceilings(positives).tolist() == expected, positives


@pytest.mark.parametrize("images", [8, 44, 150, 1000])
def test_an_image_of_average_size_does_not_show(images: int) -> None:
    """Each of the first twenty images of a class has a label of its own; the rest are background."""
    pixels = 10_000
    row = np.zeros(21, dtype=int)
    row[1 : min(images, 21)] = pixels
    row[0] = pixels * images - row.sum()
    (shown,) = confusion_shares([row.tolist()], [images])
    assert not any(shown[1:])


def test_right_pixels_show() -> None:
    (shown,) = confusion_shares([[100, 900]], [500])
    assert shown == [0.1, 0.9]


def test_a_class_in_few_images_shows_nothing() -> None:
    assert confusion_shares([[0, 500]], [3]) == [[None, None]]


def test_a_class_without_pixels_shows_nothing() -> None:
    assert confusion_shares([[0, 0]], [0]) == [[None, None]]
