"""Which methods of a leaderboard differ by more than chance.

All methods are scored on the same replicates, so that what makes a replicate easy or hard for all of them cancels in
their differences.

Many pairs are compared, and some would differ by chance. Intervals and decisions are therefore simultaneous: if all
methods were equally good, the chance that any pair is called different is about 5 %. The correction is the single-
step max-T method: each difference is divided by its standard error, and the critical value, before what follows below,
is the 95 % quantile, over replicates, of the largest such ratio of any pair. It uses that differences are correlated
(pairs share methods, and all methods the images), so it is less strict than Bonferroni's or Holm's correction. Those
would need the tails of single comparisons, 0.05 / 1,225 for 50 methods, of which 1,000 replicates know nothing. Unlike
step-down methods, it has intervals, and a pair is called different exactly if its interval does not contain 0. The
factor is a little larger for pairs whose difference depends on few images (`influence`). A difference that fewer than
ten images determine has no interval and is never significant.

Sources: P. H. Westfall and S. S. Young, "Resampling-Based Multiple Testing", 1993; J. P. Romano and M. Wolf, "Exact and
Approximate Stepdown Methods for Multiple Hypothesis Testing", JASA 2005; ranks: M. Mogstad, J. P. Romano, A. Shaikh and
D. Wilhelm, "Inference for Ranks with Applications to Mobility across Neighbourhoods and Academic Achievement across
Countries", Review of Economic Studies 2024.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.statistics.influence import ERROR_ALLOWANCE, degrees_of_freedom, student_quantile
from vocboard.evaluator.statistics.intervals import LEVEL, MIN_COUNTING_IMAGES, MIN_ERROR, ReplicatedScore

MIN_REPLICATES = 100  # from fewer, no tail can be told


class TooFewReplicatesError(ValueError):
    """Fewer than `MIN_REPLICATES` replicates define the scores of all methods."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The score of one method minus that of another.

    Attributes:
        low: lower end of the simultaneous interval; NaN if fewer than ten images determine the difference.
        high: upper end.
        p_value: corrected for the number of pairs: the share of replicates in which some pair deviates from its
            difference as much as this difference from 0, in standard errors; 1 without an interval.
        p_value_all_classes: the same, corrected for the pairs of all classes; None for means, and where there is no
            other class to compare.
    """

    difference: float
    low: float
    high: float
    p_value: float
    p_value_all_classes: float | None = None

    @property
    def is_significant(self) -> bool:
        """Whether the interval does not contain 0."""
        return self.low > 0 or self.high < 0

    def as_json(self) -> dict[str, float | bool | None]:
        """Return the numbers for JSON; None for the ends of an interval that there is not."""
        return {
            "difference": self.difference,
            "low": None if np.isnan(self.low) else self.low,
            "high": None if np.isnan(self.high) else self.high,
            "p_value": self.p_value,
            "significant": self.is_significant,
            **({} if self.p_value_all_classes is None else {"p_value_all_classes": self.p_value_all_classes}),
        }


@dataclass(frozen=True, eq=False, slots=True)
class Comparison:
    """All pairs of several methods.

    Attributes:
        methods: by decreasing score (increasing, if lower is better); equal ones in the given order.
        differences: by pair, the better method first.
        rank_shares: (m, m) share of the replicates in which each method has each rank, best rank first. Equal scores
            share the better rank.
        pairs: the same differences as arrays.
    """

    methods: tuple[str, ...]
    differences: Mapping[tuple[str, str], Difference]
    rank_shares: NDArray[np.float64]
    pairs: "Pairs"

    def difference(self, one: str, other: str) -> Difference:
        """Return the score of one method minus that of another, whichever is better."""
        if (one, other) in self.differences:
            return self.differences[one, other]
        found = self.differences[other, one]
        return replace(found, difference=-found.difference, low=-found.high, high=-found.low)

    @property
    def rank_ranges(self) -> Mapping[str, tuple[int, int]]:
        """The ranks that the differences allow; see `Pairs`."""
        return self.pairs.rank_ranges

    @property
    def first_group(self) -> tuple[str, ...]:
        """The first method, and those like it; see `Pairs`."""
        return self.pairs.first_group

    def as_json(self) -> dict[str, Any]:
        """Return everything for JSON."""
        return {
            "methods": list(self.methods),
            "first_group": list(self.first_group),
            "rank_ranges": {name: list(ranks) for name, ranks in self.rank_ranges.items()},
            "rank_shares": dict(zip(self.methods, self.rank_shares.tolist(), strict=True)),
            "differences": [
                {"method": one, "other": other, **difference.as_json()}
                for (one, other), difference in self.differences.items()
            ],
        }


@dataclass(frozen=True, eq=False, slots=True)
class Pairs:
    """The differences of all pairs as arrays: the same numbers as in `Comparison`, for many methods.

    All arrays are (m, m): the score of the row's method minus that of the column's. Only the part above the diagonal is
    meant, where the row's method is the better one; elsewhere they are 0.

    Attributes:
        methods: as in `Comparison`.
        difference: of the scores.
        low, high: ends of the simultaneous intervals; NaN where fewer than ten images determine the difference.
        error: standard errors.
        freedom: degrees of freedom of the standard errors.
        largest: (b,) the largest deviation of any pair in each replicate, in standard errors; NaN in those that do not
            define all scores.
    """

    methods: tuple[str, ...]
    difference: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    error: NDArray[np.float64]
    freedom: NDArray[np.float64]
    largest: NDArray[np.float64]

    @property
    def is_significant(self) -> NDArray[np.bool_]:
        """(m, m) whether the interval does not contain 0."""
        return np.asarray((self.low > 0) | (self.high < 0))

    @property
    def counting_images(self) -> NDArray[np.int64]:
        """(m, m) how many images determine the difference; see `ReplicatedScore.counting_images`."""
        return np.asarray(np.where(self.error > MIN_ERROR, self.freedom.astype(np.int64), 0))

    def where(self, is_known: NDArray[np.bool_]) -> "Pairs":
        """Return the same without the intervals of some pairs, which are then not significant.

        Args:
            is_known: (m, m) False for these.
        """
        low, high = (np.where(is_known, ends, np.nan) for ends in (self.low, self.high))
        return replace(self, low=low, high=high)

    @property
    def rank_ranges(self) -> Mapping[str, tuple[int, int]]:
        """For each method, the best and the worst rank that the differences allow.

        They are 1 + the number of methods that are significantly better, and m − the number that are significantly
        worse. With a confidence of `level`, the ranges contain the true ranks of all methods.
        """
        significant = self.is_significant  # the better one is the row's
        best, worst = 1 + significant.sum(axis=0), len(self.methods) - significant.sum(axis=1)
        return dict(zip(self.methods, zip(best.tolist(), worst.tolist(), strict=True), strict=True))

    @property
    def first_group(self) -> tuple[str, ...]:
        """The first method, and all that cannot be distinguished from it, or from another with the same score."""
        equal = np.count_nonzero(self.difference[0] == 0)
        differs = np.asarray(self.is_significant[:equal].all(axis=0))
        return tuple(method for method, other in zip(self.methods, differs.tolist(), strict=True) if not other)


def compare(
    scores: Mapping[str, ReplicatedScore], *, higher_is_better: bool = True, level: float = LEVEL
) -> Comparison:
    """Compare all pairs of methods.

    Replicates that do not define the score of every method are left out.

    Args:
        scores: by method, on the same replicates.
        higher_is_better: the direction of the metric.
        level: the confidence that all intervals contain the true differences.

    Raises:
        ValueError: there is no method, or a score is undefined.
        TooFewReplicatesError: fewer than `MIN_REPLICATES` replicates define all scores. A `ValueError`.
    """
    order, score, drawn, influence = _in_order(scores, higher_is_better)
    pairs = _pairs(order, score, drawn, influence, level)
    upper = np.triu_indices(len(order), 1)
    differences = {}
    for one, other in zip(*(places.tolist() for places in upper), strict=True):
        difference, error = float(pairs.difference[one, other]), float(pairs.error[one, other])
        p_value = corrected_p_value(difference, error, float(pairs.freedom[one, other]), pairs.largest)
        ends = float(pairs.low[one, other]), float(pairs.high[one, other])
        differences[order[one], order[other]] = Difference(difference, *ends, p_value)
    shares = _rank_shares((1 if higher_is_better else -1) * drawn[:, defines_all(drawn)])
    return Comparison(tuple(order), differences, shares, pairs)


def compare_pairs(
    scores: Mapping[str, ReplicatedScore], *, higher_is_better: bool = True, level: float = LEVEL
) -> Pairs:
    """Compare all pairs of methods as `compare` does, without p-values and shares of ranks, which take most time.

    Raises:
        ValueError: as for `compare`.
    """
    return _pairs(*_in_order(scores, higher_is_better), level)


def _in_order(
    scores: Mapping[str, ReplicatedScore], higher_is_better: bool
) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64], NDArray[np.float32]]:
    """Return names, (m,) scores, (m, b) replicates and (m, images) influences; best first."""
    sign = 1 if higher_is_better else -1
    order = sorted(scores, key=lambda name: -sign * scores[name].score)
    score = np.array([scores[name].score for name in order])
    drawn = np.array([scores[name].replicates for name in order])
    if not len(score) or np.isnan(score).any():
        raise ValueError("only methods with a defined score can be compared")
    if np.count_nonzero(defines_all(drawn)) < MIN_REPLICATES:
        raise TooFewReplicatesError(f"fewer than {MIN_REPLICATES} replicates define the scores of all methods")
    return order, score, drawn, np.array([scores[name].influence for name in order])


def _pairs(
    order: list[str],
    score: NDArray[np.float64],
    drawn: NDArray[np.float64],
    influence: NDArray[np.float32],
    level: float,
) -> Pairs:
    """Return the differences of all pairs.

    Args:
        order: (m,) names.
        score: (m,) scores.
        drawn: (m, b) scores of the replicates.
        influence: (m, images) of each image on each score.
        level: of confidence.
    """
    methods, defined = len(order), defines_all(drawn)
    largest = np.full(drawn.shape[1], np.nan)
    drawn = drawn[:, defined]
    difference, error, freedom = np.zeros((3, methods, methods))
    freedom += 1  # 1 where there is no pair
    most = np.zeros(drawn.shape[1])
    for place in range(methods - 1):  # by row, to limit memory
        others = slice(place + 1, methods)
        drawn_difference = drawn[place] - drawn[others]
        difference[place, others] = score[place] - score[others]
        error[place, others] = drawn_difference.std(axis=1, ddof=1)
        freedom[place, others] = degrees_of_freedom(influence[place] - influence[others], drawn.shape[1])
        varies = error[place, others] > MIN_ERROR  # equal results differ in no replicate
        deviation = np.abs(drawn_difference - difference[place, others][:, None])[varies]
        ratio = deviation / error[place, others][varies, None]
        np.maximum(most, ratio.max(axis=0, initial=0.0), out=most)
    largest[defined] = most
    rank = math.ceil(level * (len(most) + 1)) - 1  # no interpolation, so that p-values are at most 1 - level beyond it
    critical = np.sort(most)[min(rank, len(most) - 1)]
    margin = ERROR_ALLOWANCE * student_quantile(np.full_like(freedom, critical), freedom) * error
    margin[(freedom < MIN_COUNTING_IMAGES) & (error > MIN_ERROR)] = np.nan
    margin[(error <= MIN_ERROR) & (np.abs(difference) > MIN_ERROR)] = np.nan  # other than of equal results
    return Pairs(tuple(order), difference, difference - margin, difference + margin, error, freedom, largest)


def defines_all(drawn: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which columns of (m, b) scores define all of them."""
    return np.asarray(~np.isnan(drawn).any(axis=0))


def corrected_p_value(difference: float, error: float, freedom: float, largest: NDArray[np.float64]) -> float:
    """Return the share of replicates in which the largest deviation is at least that of a pair's difference from 0."""
    if error <= MIN_ERROR or freedom < MIN_COUNTING_IMAGES:
        return 1.0
    at_least = int(np.count_nonzero(ERROR_ALLOWANCE * student_quantile(largest, freedom) >= abs(difference) / error))
    return (1 + at_least) / (1 + int(np.count_nonzero(~np.isnan(largest))))


def _rank_shares(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (m, m) the share of the columns of (m, b) scores in which each row has each rank, higher being better."""
    methods, replicates = drawn.shape
    descending = -np.sort(-drawn, axis=0)
    better = np.array([np.count_nonzero(descending > own, axis=0) for own in drawn])
    counts = np.array([np.bincount(own, minlength=methods) for own in better])
    return np.asarray(counts / replicates, dtype=np.float64)
