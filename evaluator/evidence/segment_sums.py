"""Sums of rows of a matrix of small numbers over many segments: the inner loop of the bootstrap.

It is the product of a sparse matrix with `weights`. What makes it fast is that sums stay in 8 bits as long as they
cannot overflow, 32 replicates in one instruction, and that one row of all replicates is one piece of memory.
"""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.weights import Weights

_MAX_UINT8 = int(np.iinfo(np.uint8).max)


def segment_sums(weights: Weights, row: NDArray[np.integer], end: NDArray[np.integer]) -> NDArray[np.int32]:
    """Return the sum of the rows of each segment of a list of rows.

    Args:
        weights: (m, b) matrix.
        row: (n,) indices into the rows of `weights`; can repeat.
        end: (s,) where each segment of `row` ends, non-decreasing; the first one starts at 0. Segments can be empty.

    Returns:
        (s, b) sums.

    >>> segment_sums(np.array([[1, 2], [3, 4]], dtype=np.uint8), np.array([0, 1, 1]), np.array([1, 1, 3])).tolist()
    [[1, 2], [0, 0], [6, 8]]
    """
    start = np.concatenate(([0], end[:-1])).astype(np.int64) if len(end) else np.empty(0, dtype=np.int64)
    most = _MAX_UINT8 // max(1, int(weights.max(initial=1)))  # rows whose sum fits into 8 bits
    pieces = -(-(end - start) // most)
    piece_end = np.cumsum(pieces)
    segment = np.repeat(np.arange(len(end)), pieces)
    piece_start = start[segment] + most * (np.arange(len(segment)) - (piece_end - pieces)[segment])
    length = np.minimum(end[segment] - piece_start, most)
    sums = np.zeros((len(end), weights.shape[1]), dtype=np.int32)
    partial, place = _sums_of_pieces(weights, row, piece_start, length)
    for index, of_segment in zip(place.tolist(), segment.tolist(), strict=True):
        sums[of_segment] += partial[index]
    return sums


def _sums_of_pieces(
    weights: Weights, row: NDArray[np.integer], start: NDArray[np.int64], length: NDArray[np.int64]
) -> tuple[Weights, NDArray[np.int64]]:
    """Return (p, b) sums of pieces in another order, and (p,) the place of each piece in it."""
    longest_first = np.argsort(-length, kind="stable")
    start, length = start[longest_first], length[longest_first]
    place = np.empty_like(longest_first)
    place[longest_first] = np.arange(len(place))
    sums = weights.take(row[start], axis=0)
    for step in range(1, int(length[0]) if len(length) else 0):
        longer = int(np.searchsorted(-length, -step, side="left"))  # pieces with more rows than this
        sums[:longer] += weights.take(row[start[:longer] + step], axis=0)
    return sums, place
