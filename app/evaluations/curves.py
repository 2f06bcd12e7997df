"""Precision/recall curves: every point in the database, what a plot needs on a page."""

import zlib

import numpy as np
from numpy.typing import NDArray

from evaluator.scores import Curve

_STORED = np.dtype("<f8")


def pack(curve: Curve) -> bytes:
    """Return a curve as the database keeps it: zlib of float64 recall, then precision, little-endian."""
    return zlib.compress(np.concatenate([curve.recall, curve.precision]).astype(_STORED).tobytes())


def unpack(points: bytes) -> Curve:
    """Return the curve that `pack` packed, every point of it exactly."""
    values = np.frombuffer(zlib.decompress(points), dtype=_STORED).astype(np.float64)
    recall, precision = np.split(values, 2)
    return Curve(recall, precision)


def plot_points(curve: Curve, decimals: int) -> list[tuple[float, float]]:
    """Return what a plot of a curve needs, rounded: (recall, precision) in the order of the ranks.

    While recall stands still precision only falls, so the first and the last rank of each recall draw the same line as
    all of them. Ranks where either is undefined are left out, and so are points that rounding has made equal to the
    one before.
    """
    defined = ~(np.isnan(curve.recall) | np.isnan(curve.precision))
    recall, precision = curve.recall[defined], curve.precision[defined]
    if not len(recall):
        return []
    moves = np.diff(recall) != 0
    is_corner = np.concatenate([[True], moves]) | np.concatenate([moves, [True]])
    points = np.round(np.column_stack([recall[is_corner], precision[is_corner]]), decimals)
    return [(float(x), float(y)) for x, y in points[_differs_from_the_one_before(points)]]


def _differs_from_the_one_before(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    changes: NDArray[np.bool_] = (np.diff(points, axis=0) != 0).any(axis=1)
    return np.concatenate([[True], changes])
