"""Scores of one method by class, which remember their form as an array, because leaderboards have thousands."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

_NUMBER = np.dtype(np.float64)


class ClassScores(dict[str, float | None]):
    """Unrounded fractions by class, None where undefined. Not changed any more once they have been packed."""

    __slots__ = ("_packed",)

    _packed: tuple[tuple[str, ...], bytes]

    def packed(self, names: tuple[str, ...]) -> bytes:
        """Return the scores of these classes as float64, NaN where undefined or not entered."""
        try:
            known, packed = self._packed
        except AttributeError:
            known = None
        if known is not names and known != names:
            packed = np.array([*map(self.get, names)], dtype=_NUMBER).tobytes()
            self._packed = names, packed
        return packed


def packed_together(methods: Sequence[Mapping[str, float | None]], names: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the scores of n methods in k classes as (n, k), NaN where undefined or not entered."""
    rows = [each if isinstance(each, ClassScores) else ClassScores(each) for each in methods]
    return np.frombuffer(b"".join([row.packed(names) for row in rows]), dtype=_NUMBER).reshape(len(rows), len(names))
