"""Curves are stored exactly, and plotted without a visible difference."""

import numpy as np
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from app.evaluations.curves import pack, plot_points, unpack
from evaluator.scores import Curve

NAN = float("nan")


def curve_of(is_right: NDArray[np.bool_], positives: int) -> Curve:
    right = np.cumsum(is_right)
    return Curve(right / positives, right / np.arange(1, len(is_right) + 1))


def test_unpacks_every_point_exactly() -> None:
    random = np.random.default_rng(7)
    curve = Curve(random.random(1000), random.random(1000))
    curve.precision[:3] = NAN
    unpacked = unpack(pack(curve))
    assert_array_equal(unpacked.recall, curve.recall)
    assert_array_equal(unpacked.precision, curve.precision)


def test_unpacks_a_curve_without_points() -> None:
    assert len(unpack(pack(Curve(np.array([]), np.array([])))).recall) == 0


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
