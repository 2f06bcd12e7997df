"""Which methods differ over all classes of a leaderboard: Friedman's test, then Nemenyi's.

Classes are the blocks: in each of them, methods are ranked by the scores that the leaderboard shows, so this tells
nothing that its figures do not. Source: Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7
(2006), section 3.2.2, with the usual correction of Friedman's statistic for ties.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from vocboard.app.leaderboards.board import Board
from vocboard.evaluator.names import Metric

MAX_METHODS = 20  # as many as the tables below are for
MIN_CLASSES = 5  # with fewer, the approximations say little
# Critical values at 5 %: of the studentized range for 2, 3, ... groups and infinite degrees of freedom, divided by √2;
# and of χ² with 1, 2, ... degrees of freedom. The tests compute both.
_RANGE = (
    *(1.960, 2.344, 2.569, 2.728, 2.850, 2.948, 3.031, 3.102, 3.164, 3.219),
    *(3.268, 3.313, 3.354, 3.391, 3.426, 3.458, 3.489, 3.517, 3.544),
)
_CHI_SQUARED = (
    *(3.841, 5.991, 7.815, 9.488, 11.070, 12.592, 14.067, 15.507, 16.919, 18.307),
    *(19.675, 21.026, 22.362, 23.685, 24.996, 26.296, 27.587, 28.869, 30.144),
)


@dataclass(frozen=True, slots=True)
class RankTest:
    """Mean ranks of methods over classes, and which of them differ.

    Attributes:
        rows: of the methods on the leaderboard, from 0, by mean rank.
        mean_ranks: of these; 1 for a method that is the best in every class.
        classes: number of classes.
        statistic: Friedman's, corrected for ties.
        critical: what it has to exceed for a difference at 5 %.
        difference: of two mean ranks, from which on Nemenyi's test finds a difference at 5 %.
        groups: first and last place in `rows` of methods without a difference among them, as long as possible and of
            two methods or more. All methods where Friedman's test finds no difference.
        left_out: methods on the leaderboard that are not compared.
    """

    rows: tuple[int, ...]
    mean_ranks: tuple[float, ...]
    classes: int
    statistic: float
    critical: float
    difference: float
    groups: tuple[tuple[int, int], ...]
    left_out: int

    @property
    def is_significant(self) -> bool:
        """Whether Friedman's test finds that the methods differ."""
        return self.statistic > self.critical


def rank_test(board: Board, metric: Metric) -> RankTest | None:
    """Compare the first methods of a leaderboard that have a score in every class that has any.

    Returns:
        None where fewer than two methods have one, or there are fewer than five classes (always if none are shown).
    """
    table = board.rows.tables[metric]
    scores = table.scores[:, 1:]
    scores = scores[:, ~np.isnan(scores).all(axis=0)]  # nobody has a score in a class without positives
    compared = np.flatnonzero(~np.isnan(scores).any(axis=1))[:MAX_METHODS]
    if len(compared) < 2 or scores.shape[1] < MIN_CLASSES:
        return None
    mean_ranks, statistic = friedman(scores[compared] if table.higher_is_better else -scores[compared])
    order = np.argsort(mean_ranks, kind="stable")
    in_order, count = mean_ranks[order], len(compared)
    difference = critical_difference(count, scores.shape[1])
    critical = _CHI_SQUARED[count - 2]
    return RankTest(
        rows=tuple(compared[order].tolist()),
        mean_ranks=tuple(in_order.tolist()),
        classes=scores.shape[1],
        statistic=statistic,
        critical=critical,
        difference=difference,
        groups=_groups(in_order, difference) if statistic > critical else ((0, count - 1),),
        left_out=len(scores) - count,
    )


def critical_difference(methods: int, classes: int) -> float:
    """Return from which difference of mean ranks on two of k methods differ at 5 % over n classes.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    return _RANGE[methods - 2] * sqrt(methods * (methods + 1) / (6 * classes))


def friedman(scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return mean ranks and Friedman's statistic.

    Args:
        scores: (k, n) of k methods in n classes, higher is better.

    Returns:
        (k,) mean ranks, 1 for the best, equal scores sharing the mean of their ranks; and the statistic, about χ² with
        k - 1 degrees of freedom if no method is better. 0 if all scores of each class are equal.
    """
    methods, classes = scores.shape
    better = (scores[None] > scores[:, None]).sum(axis=1)
    equal = (scores[None] == scores[:, None]).sum(axis=1)
    mean_ranks: NDArray[np.float64] = (better + (equal + 1) / 2).mean(axis=1)
    ties = float((equal**2 - 1).sum())  # t³ - t for each set of t equal scores
    variance = methods * (methods + 1) / 12 * (1 - ties / (classes * (methods**3 - methods)))
    if variance < 1e-9:  # all are equal, but for rounding
        return mean_ranks, 0.0
    distance = float(((mean_ranks - (methods + 1) / 2) ** 2).sum())
    return mean_ranks, classes * distance / variance


def _groups(in_order: NDArray[np.float64], difference: float) -> tuple[tuple[int, int], ...]:
    ends = np.searchsorted(in_order, in_order + difference, side="left") - 1
    found: list[tuple[int, int]] = []
    for first, last in enumerate(ends.tolist()):
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return tuple(found)
