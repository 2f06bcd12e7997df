"""Detects duplicate lines for an image or person."""

import numpy as np
from numpy.typing import NDArray

_NONE = 0  # lines count from 1


class FirstLines:
    """The first line of each item."""

    def __init__(self) -> None:
        self._line = np.zeros(0, dtype=np.int32)

    def add(self, item: NDArray[np.int32], line: NDArray[np.int32]) -> bool:
        """Record the lines of items, unless one of them already has a line.

        Args:
            item: (n,) positions.
            line: (n,) 1-based line numbers.

        Returns:
            Whether all of them are new; if not, nothing is recorded.
        """
        may_have_lines = len(self._line) > 0  # the first part of a file has nothing to repeat
        self._reserve(int(item.max(initial=-1)))
        place = item.astype(np.intp)  # indexing with other integer types takes three times as long
        if may_have_lines and self._line.take(place).any():
            return False
        self._line[place] = line
        if not np.array_equal(self._line.take(place), line):  # a repeated item has only one of its lines
            self._line[place] = _NONE
            return False
        return True

    def of(self, item: int, line: int) -> int:
        """Return the first line of an item; set it to `line` if it has none."""
        self._reserve(item)
        if self._line[item] == _NONE:
            self._line[item] = line
        return int(self._line[item])

    def _reserve(self, item: int) -> None:
        if item >= len(self._line):
            self._line = np.concatenate([self._line, np.zeros(item + 1, dtype=np.int32)])  # more than doubles
