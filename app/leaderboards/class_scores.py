"""Scores of one method by class, which remember their form as an array, because leaderboards have thousands."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vocboard.app.evaluations.rounding import rounded

_NUMBER = np.dtype(np.float64)


class ClassScores(dict[str, float | None]):
    """Fractions by class, None where undefined. Not changed any more once they have been packed or rounded."""

    __slots__ = ("_packed", "_rounded")

    _packed: tuple[tuple[str, ...], bytes]
    _rounded: tuple[int, "ClassScores"]

    def rounded(self, decimals: int) -> "ClassScores":
        """Return the scores as they are shown."""
        try:
            known, shown = self._rounded
        except AttributeError:
            known = None
        if known != decimals:
            shown = ClassScores((name, rounded(score, decimals)) for name, score in self.items())
            self._rounded = decimals, shown
        return shown

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


def as_class_scores(scores: Mapping[str, float | None]) -> ClassScores:
    """Return scores that remember their forms: the same if they do so already."""
    return scores if isinstance(scores, ClassScores) else ClassScores(scores)


def packed_together(methods: Sequence[Mapping[str, float | None]], names: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the scores of n methods in k classes as (n, k), NaN where undefined or not entered."""
    packed = b"".join([as_class_scores(each).packed(names) for each in methods])
    return np.frombuffer(packed, dtype=_NUMBER).reshape(len(methods), len(names))
