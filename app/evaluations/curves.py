"""Storage of curves as corner points, and points for plots.

Only the corners are stored, which draw exactly the same curve. Curves are only used for plots; scores are stored
separately. For example, 50,000 results that find 300 objects have 600 corners.
"""

import zlib

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.names import CurveKind
from vocboard.evaluator.scores import AnyCurve, Curve, RocCurve

_STORED = np.dtype("<f8")
_NOTHING = np.array([])

# The x and y axis by kind of curve.
AXES = {
    CurveKind.PRECISION_RECALL: ("recall", "precision"),
    CurveKind.ROC: ("false_positive_rate", "true_positive_rate"),
}


def pack(curve: AnyCurve) -> bytes:
    """Return a curve's corners in the database's format: zlib of little-endian float64, one axis after the other."""
    points = np.concatenate(_axes(corners(curve))).astype(_STORED)
    return zlib.compress(points.tobytes(), level=1)  # takes two thirds of the time


def unpack(points: bytes, kind: CurveKind) -> AnyCurve:
    """Return the exact corners of a packed curve; curves from older versions contain all points."""
    right, up = np.split(np.frombuffer(zlib.decompress(points), dtype=_STORED).astype(np.float64), 2)
    return RocCurve(right, up) if kind is CurveKind.ROC else Curve(right, up)


def corners(curve: AnyCurve) -> AnyCurve:
    """Return only the points that determine the plot of a curve; none if it is undefined.

    For precision and recall, these are the first and last rank of each recall value, because precision only decreases
    while recall is constant. For an ROC, these are the first and last point of each true positive rate and each false
    positive rate. The function is idempotent.
    """
    if isinstance(curve, RocCurve):
        if not len(curve.true_positive_rate) or not curve.is_defined:
            return RocCurve(_NOTHING, _NOTHING)
        points = np.column_stack([curve.false_positive_rate, curve.true_positive_rate])
        points = points[_differs_from_the_one_before(points)]
        steps = np.diff(points, axis=0) != 0
        is_bend = (steps[1:] | steps[:-1]).all(axis=1)  # moves right before or after, and up before or after
        right, up = points[np.concatenate([[True], is_bend, [True]])].T
        return RocCurve(right, up)
    defined = ~(np.isnan(curve.recall) | np.isnan(curve.precision))
    recall, precision = curve.recall[defined], curve.precision[defined]
    moves = np.diff(recall) != 0
    is_corner = np.concatenate([[True], moves]) | np.concatenate([moves, [True]])
    return Curve(recall[is_corner[: len(recall)]], precision[is_corner[: len(recall)]])


def plot_points(curve: AnyCurve, decimals: int) -> list[tuple[float, float]]:
    """Return the rounded points of a curve for a plot with straight lines: pairs as in `AXES`.

    Leaves out undefined points, and points that are equal to the previous one after rounding.
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
