"""The differences of all pairs of methods in one column of a leaderboard, packed.

Fractions are stored as whole numbers of the last decimal that is shown, so that nothing more precise leaves the worker.
"""

import uuid
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

_ID_BYTES = 16
_LENGTH = np.dtype("<u4")
_NUMBER = np.dtype("<i4")
_SIGNIFICANT, _HIDDEN = 1, 2  # 0 if it is not significant


@dataclass(frozen=True, slots=True)
class Difference:
    """The score of one method minus that of another.

    Attributes:
        low, high: ends of the simultaneous 95 % interval: fractions, rounded.
        is_significant: whether the unrounded interval does not contain 0.
    """

    low: float
    high: float
    is_significant: bool


class Differences:
    """The differences of all pairs of some results.

    Args of the constructor:
        results: those that have a score in the column, best first.
        numbers: (3, m, m) low and high ends in units of the last decimal, and `_SIGNIFICANT`, `_HIDDEN` or 0; row minus
            column, above the diagonal. The ends of what is hidden are 0.
    """

    def __init__(self, results: Sequence[uuid.UUID], numbers: NDArray[np.int32]) -> None:
        self._places = {result: place for place, result in enumerate(results)}
        self._numbers = numbers

    @classmethod
    def rounded(
        cls,
        results: Sequence[uuid.UUID],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        is_significant: NDArray[np.bool_],
        decimals: int,
        *,
        is_shown: NDArray[np.bool_],
    ) -> "Differences":
        """Return unrounded differences, rounded to so many decimals. Scores differ by at most 1.

        Args:
            is_shown: (m, m) False for pairs that are not reported.
        """
        ends = np.where(is_shown, np.rint(np.stack((low, high)).clip(-1.0, 1.0) * 10**decimals), 0)
        kind = np.where(is_shown, np.where(is_significant, _SIGNIFICANT, 0), _HIDDEN)
        return cls(results, np.concatenate((ends, kind[None])).astype(np.int32))

    def of(self, one: uuid.UUID, other: uuid.UUID, decimals: int) -> Difference | None:
        """Return the score of one result minus that of another; None if not reported."""
        first, second = self._places.get(one), self._places.get(other)
        if first is None or second is None or first == second:
            return None
        low, high, kind = self._numbers[:, min(first, second), max(first, second)].tolist()
        if kind == _HIDDEN:
            return None
        if first > second:
            low, high = -high, -low
        unit = 10**decimals
        return Difference(low / unit, high / unit, kind == _SIGNIFICANT)

    def packed(self) -> bytes:
        """Return the content of `BoardDifferences`."""
        upper = np.triu_indices(len(self._places), 1)
        ids = b"".join(result.bytes for result in self._places)
        header = np.array([len(self._places)], dtype=_LENGTH).tobytes()
        return zlib.compress(header + ids + self._numbers[:, *upper].astype(_NUMBER).tobytes())

    @classmethod
    def unpacked(cls, content: bytes) -> "Differences":
        """Return what `packed` has written."""
        data = zlib.decompress(content)
        [number] = np.frombuffer(data, dtype=_LENGTH, count=1).tolist()
        start = _LENGTH.itemsize
        ends = [start + _ID_BYTES * place for place in range(number + 1)]
        results = [uuid.UUID(bytes=data[begin:end]) for begin, end in pairwise(ends)]
        numbers = np.zeros((3, number, number), dtype=np.int32)
        upper = np.triu_indices(number, 1)
        numbers[:, *upper] = np.frombuffer(data, dtype=_NUMBER, offset=ends[-1]).reshape(3, -1)
        return cls(results, numbers)
