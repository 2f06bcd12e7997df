"""The scores of one metric on a leaderboard: a row for each method, a column for the mean and one for each class."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vocboard.app.evaluations.rounding import rounded
from vocboard.evaluator.editions import Metric
from vocboard.evaluator.tasks.definitions import METRICS

QUINTILES = 5
_NUMBER = np.dtype(np.float64)


class ClassScores(dict[str, float | None]):
    """Fractions by class, None where undefined. Not changed any more once they have been packed."""

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


def rounded_scores(scores: Mapping[str, float | None], decimals: int) -> ClassScores:
    """Return the scores as they are shown."""
    return ClassScores((name, rounded(score, decimals)) for name, score in scores.items())


def packed_together(methods: Sequence[Mapping[str, float | None]], names: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the scores of n methods in k classes as (n, k), NaN where undefined or not entered."""
    packed = b"".join(
        [(each if isinstance(each, ClassScores) else ClassScores(each)).packed(names) for each in methods]
    )
    return np.frombuffer(packed, dtype=_NUMBER).reshape(len(methods), len(names))


class Cell(NamedTuple):
    """A score for display. A tuple, because a page has thousands.

    Attributes:
        value: a fraction, rounded to the challenge's decimals; None if undefined or not entered.
        is_entered: False for a class without results, as opposed to an undefined score.
        is_best: whether no score in its column is better, as shown. Never true for the mean of an incomplete entry, nor
            do other means compete with that.
        quintile: among the column's shown scores, 5 for the best; None if it has no value.
    """

    value: float | None
    is_entered: bool
    is_best: bool
    quintile: int | None = None


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """All scores of one metric, as shown.

    Attributes:
        scores: (n, 1 + k) rounded fractions, the mean first and then k classes; NaN where undefined or not entered.
        is_entered: (n, 1 + k)
        is_best: (n, 1 + k)
        quintile_bounds: for each column the four scores between its quintiles; none without any score.
        has_classes: whether there are scores of classes, for at least one method.
    """

    scores: NDArray[np.float64]
    is_entered: NDArray[np.bool_]
    is_best: NDArray[np.bool_]
    quintile_bounds: Sequence[Sequence[float]]
    higher_is_better: bool
    has_classes: bool

    @classmethod
    def of(
        cls,
        metric: Metric,
        means: Sequence[float | None],
        per_class: Sequence[Mapping[str, float | None]],
        is_complete: Sequence[bool],
        *,
        classes: Sequence[str],
    ) -> "ScoreTable":
        """Return the table of a metric from rounded scores; each sequence has one item for each method.

        Args:
            per_class: scores of the classes that were entered.
            classes: the columns.
        """
        count, width = len(means), 1 + len(classes)
        scores = np.full((count, width), np.nan)
        is_entered = np.ones((count, width), dtype=bool)
        scores[:, 0] = np.array(means, dtype=float)
        if count and classes:
            scores[:, 1:] = packed_together(per_class, tuple(classes))
            # Where no score is missing, every class was entered.
            for place in np.flatnonzero(np.isnan(scores[:, 1:]).any(axis=1)).tolist():
                is_entered[place, 1:] = [name in per_class[place] for name in classes]
        higher_is_better = METRICS[metric].higher_is_better
        competing = scores.copy()
        competing[~np.array(is_complete, dtype=bool), 0] = np.nan
        return cls(
            scores,
            is_entered,
            _best(competing, higher_is_better),
            _quintile_bounds(scores),
            higher_is_better,
            has_classes=not bool(np.isnan(scores[:, 1:]).all()),
        )

    def grouped(self, groups: Sequence[Sequence[int]], decimals: int) -> "ScoreTable":
        """Return the table with means over groups of classes in place of the classes, from scores as they are shown.

        Classes without any score do not count. A method has no mean where it lacks one of the others.

        Args:
            groups: columns of the classes of each; 1 is the first class.
        """
        has_scores = np.any(~np.isnan(self.scores), axis=0)
        means = np.full((len(self.scores), len(groups)), np.nan)
        for place, group in enumerate(groups):
            if counted := [column for column in group if has_scores[column]]:
                exact = self.scores[:, counted].mean(axis=1).tolist()
                means[:, place] = [round(mean, decimals) for mean in exact]  # like all scores
        entered = [np.all(self.is_entered[:, list(group)], axis=1) for group in groups]
        return replace(
            self,
            scores=np.column_stack([self.scores[:, 0], means]),
            is_entered=np.column_stack([self.is_entered[:, 0], *entered]),
            is_best=np.column_stack([self.is_best[:, 0], _best(means, self.higher_is_better)]),
            quintile_bounds=[self.quintile_bounds[0], *_quintile_bounds(means)],
        )

    def shown(self, column: int) -> list[float | None]:
        """Return a column for display: 0 is the mean, 1 the first class."""
        return [None if value != value else value for value in self.scores[:, column].tolist()]  # noqa: PLR0124  # NaN

    def row(self, place: int) -> tuple[Cell, ...]:
        """Return the cells of a method, the mean first."""
        cells = zip(
            self.scores[place].tolist(),
            self.is_entered[place].tolist(),
            self.is_best[place].tolist(),
            self.quintile_bounds,
            strict=True,
        )
        return tuple(self._cell(*cell) for cell in cells)

    def _cell(self, score: float, is_entered: bool, is_best: bool, bounds: Sequence[float]) -> Cell:
        if score != score:  # noqa: PLR0124  # NaN
            return Cell(None, is_entered, False)
        # Of equal scores, all are in the middle of the quintiles that they reach over.
        below = (bisect_left(bounds, score) + bisect_right(bounds, score)) // 2
        return Cell(score, is_entered, is_best, 1 + below if self.higher_is_better else QUINTILES - below)


def _best(scores: NDArray[np.float64], higher_is_better: bool) -> NDArray[np.bool_]:
    """Where a score is the best of its column. (n, m) like the scores; False where they are NaN."""
    if not len(scores):
        return np.zeros(scores.shape, dtype=bool)
    is_defined = ~np.isnan(scores)
    if higher_is_better:
        best = np.where(is_defined, scores, -np.inf).max(axis=0)
    else:
        best = np.where(is_defined, scores, np.inf).min(axis=0)
    is_best: NDArray[np.bool_] = is_defined & (scores == best)
    return is_best


def _quintile_bounds(scores: NDArray[np.float64]) -> Sequence[Sequence[float]]:
    in_order = np.sort(scores, axis=0)  # NaN last
    counts = np.count_nonzero(~np.isnan(in_order), axis=0).tolist()
    return [
        [_bound(in_order[:count, column], part) for part in range(1, QUINTILES)] if count else []
        for column, count in enumerate(counts)
    ]


def _bound(in_order: NDArray[np.float64], part: int) -> float:
    """Return the score between two quintiles, or the one that belongs to both."""
    whole, rest = divmod(len(in_order) * part, QUINTILES)
    return float(in_order[whole if rest else whole - 1] + in_order[whole]) / 2
