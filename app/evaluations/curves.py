"""Curves of a class: their corners in the database, what a plot needs of them on a page.

Corners joined by straight lines draw exactly what all points draw, and nothing but plots reads curves: scores are
stored as numbers of their own. 50,000 results that find 300 objects have 600 corners.
"""

import zlib

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.scores import AnyCurve, Curve, CurveKind, RocCurve

_STORED = np.dtype("<f8")
_NOTHING = np.array([])

# What a plot has to the right and upwards, by kind of curve.
AXES = {
    CurveKind.PRECISION_RECALL: ("recall", "precision"),
    CurveKind.ROC: ("false_positive_rate", "true_positive_rate"),
}


def pack(curve: AnyCurve) -> bytes:
    """Return a curve's corners as the database keeps them: zlib of little-endian float64, one axis after the other."""
    points = np.concatenate(_axes(corners(curve))).astype(_STORED)
    return zlib.compress(points.tobytes(), level=1)  # two thirds of the time


def unpack(points: bytes, kind: CurveKind) -> AnyCurve:
    """Return the curve that `pack` packed, each corner of it exactly; or every point, which once were all packed."""
    right, up = np.split(np.frombuffer(zlib.decompress(points), dtype=_STORED).astype(np.float64), 2)
    return RocCurve(right, up) if kind is CurveKind.ROC else Curve(right, up)


def corners(curve: AnyCurve) -> AnyCurve:
    """Return a curve without the points that make no difference to its plot; without any where it is undefined.

    Of precision and recall the first and the last rank of each recall stay: while recall stands still precision only
    falls. Of an ROC the first and the last point of each true positive rate stay, and of each false positive rate.
    Corners have the same corners again.
    """
    if isinstance(curve, RocCurve):
        if not len(curve.true_positive_rate) or not curve.is_defined:
            return RocCurve(_NOTHING, _NOTHING)
        points = np.column_stack([curve.false_positive_rate, curve.true_positive_rate])
        points = points[_differs_from_the_one_before(points)]
        steps = np.diff(points, axis=0) != 0
        is_bend = (steps[1:] | steps[:-1]).all(axis=1)  # it moves right before or after, and up before or after
        right, up = points[np.concatenate([[True], is_bend, [True]])].T
        return RocCurve(right, up)
    defined = ~(np.isnan(curve.recall) | np.isnan(curve.precision))
    recall, precision = curve.recall[defined], curve.precision[defined]
    moves = np.diff(recall) != 0
    is_corner = np.concatenate([[True], moves]) | np.concatenate([moves, [True]])
    return Curve(recall[is_corner[: len(recall)]], precision[is_corner[: len(recall)]])


def plot_points(curve: AnyCurve, decimals: int) -> list[tuple[float, float]]:
    """Return what a plot of a curve needs, rounded: pairs as in `AXES`, to be joined by straight lines.

    Points where either is undefined are left out, and so are points that rounding has made equal to the one before.
    """
    right, up = _axes(corners(curve))
    if not len(right):
        return []
    points = np.column_stack([right, up]).round(decimals)
    return [(float(x), float(y)) for x, y in points[_differs_from_the_one_before(points)]]


def _axes(curve: AnyCurve) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    right, up = AXES[curve.kind]
    return getattr(curve, right), getattr(curve, up)


def _differs_from_the_one_before(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    changes: NDArray[np.bool_] = (np.diff(points, axis=0) != 0).any(axis=1)
    return np.concatenate([[True], changes])
