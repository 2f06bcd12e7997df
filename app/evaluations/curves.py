"""Curves of a class: every point in the database, what a plot needs on a page."""

import zlib

import numpy as np
from numpy.typing import NDArray

from evaluator.scores import AnyCurve, Curve, CurveKind, RocCurve

_STORED = np.dtype("<f8")
_BY_SIGNIFICANCE = b"\x01"  # how points that are packed so begin; zlib alone, as they once were packed, begins with "x"

# What a plot has to the right and upwards, by kind of curve.
AXES = {
    CurveKind.PRECISION_RECALL: ("recall", "precision"),
    CurveKind.ROC: ("false_positive_rate", "true_positive_rate"),
}


def pack(curve: AnyCurve) -> bytes:
    """Return a curve as the database keeps it: zlib of little-endian float64, one axis after the other.

    First all numbers' least significant bytes, then all next ones: neighbours on a curve share the significant ones, so
    that looking for runs finds what there is to find, in a third of the time of looking for repetitions.
    """
    points = np.concatenate([getattr(curve, axis) for axis in AXES[curve.kind]]).astype(_STORED)
    by_significance = points.view(np.uint8).reshape(-1, _STORED.itemsize).T
    deflating = zlib.compressobj(strategy=zlib.Z_RLE)
    return _BY_SIGNIFICANCE + deflating.compress(by_significance.tobytes()) + deflating.flush()


def unpack(points: bytes, kind: CurveKind) -> AnyCurve:
    """Return the curve that `pack` packed, every point of it exactly."""
    if points.startswith(_BY_SIGNIFICANCE):
        content = np.frombuffer(zlib.decompress(points[1:]), dtype=np.uint8).reshape(_STORED.itemsize, -1).T.tobytes()
    else:
        content = zlib.decompress(points)
    right, up = np.split(np.frombuffer(content, dtype=_STORED).astype(np.float64), 2)
    return RocCurve(right, up) if kind is CurveKind.ROC else Curve(right, up)


def plot_points(curve: AnyCurve, decimals: int) -> list[tuple[float, float]]:
    """Return what a plot of a curve needs, rounded: pairs as in `AXES`, to be joined by straight lines.

    Points where either is undefined are left out, and so are points that rounding has made equal to the one before.
    """
    right, up = _steps(curve) if isinstance(curve, RocCurve) else _corners(curve)
    if not len(right):
        return []
    points = np.column_stack([right, up]).round(decimals)
    return [(float(x), float(y)) for x, y in points[_differs_from_the_one_before(points)]]


def _corners(curve: Curve) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Recall and precision of the ranks that matter to the line.

    While recall stands still precision only falls, so the first and the last rank of each recall draw the same line as
    all of them.
    """
    defined = ~(np.isnan(curve.recall) | np.isnan(curve.precision))
    recall, precision = curve.recall[defined], curve.precision[defined]
    moves = np.diff(recall) != 0
    is_corner = np.concatenate([[True], moves]) | np.concatenate([moves, [True]])
    return recall[is_corner[: len(recall)]], precision[is_corner[: len(recall)]]


def _steps(curve: RocCurve) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lower envelope, whose area is the score: right, then up, from each of its points to the next."""
    if not curve.is_defined:
        return np.array([]), np.array([])
    envelope = curve.envelope()
    right = np.repeat(envelope.false_positive_rate, 2)[1:]
    up = np.repeat(envelope.true_positive_rate, 2)[:-1]
    return right, up


def _differs_from_the_one_before(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    changes: NDArray[np.bool_] = (np.diff(points, axis=0) != 0).any(axis=1)
    return np.concatenate([[True], changes])
