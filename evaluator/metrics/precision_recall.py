"""Precision/recall curves and average precision, in the two definitions of PASCAL VOC.

Source: VOC development kits, VOCevalcls.m, VOCevaldet.m (up to 2009 with eleven points), VOCap.m (from 2010 on);
VOC2010 document section 3.4.1.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.rules import Interpolation, WithoutPositives
from vocboard.evaluator.scores import ClassDetails, Curve

# As the doubles i * 0.1 (0.30000000000000004 and 0.7000000000000001 among them): the kits' `0:0.1:1`. With i / 10
# instead, the score of a real class changes by up to 8e-4.
ELEVEN_RECALLS = np.arange(11) * 0.1

_SORTED_BITS = 62  # of the numbers that are sorted to rank results
_MIN_SPAN = 1e-280  # of confidences; the steps of a smaller one would overflow


@dataclass(frozen=True, eq=False)
class Judgement:
    """Results of one class in rank order, each true positive, false positive or ignored.

    Attributes:
        true: (n,) bool, the true positives by rank.
        false: (n,) bool, the false positives by rank.
        positives: number of positives.
    """

    true: NDArray[np.bool_]
    false: NDArray[np.bool_]
    positives: int

    def curve(self) -> Curve:
        """Return the precision/recall curve at every rank; see `Curve` for what is undefined."""
        return self._curve

    @cached_property
    def _curve(self) -> Curve:
        results, true = len(self.true), np.flatnonzero(self.true)
        found = np.arange(len(true) + 1, dtype=np.float64)
        recall = found / self.positives if self.positives else np.full(len(found), np.nan)
        between = _distances(true, results)
        counted = np.arange(1, results + 1, dtype=np.float64)
        counted -= np.repeat(np.arange(len(self._ignored) + 1, dtype=np.float64), _distances(self._ignored, results))
        precision = np.repeat(found, between)
        first = int(counted.searchsorted(1))
        precision[:first] = np.nan
        precision[first:] /= counted[first:]
        return Curve(np.repeat(recall, between), precision)

    @cached_property
    def _ignored(self) -> NDArray[np.intp]:
        """(i,) ranks of the results that are ignored, counted from 0."""
        return np.flatnonzero(~(self.true | self.false))

    def average_precision(
        self,
        interpolation: Interpolation,
        without_positives: WithoutPositives = WithoutPositives.UNDEFINED,
    ) -> float:
        """Return the average precision, 0.0 if nothing was found.

        Args:
            interpolation: how it is taken from the curve.
            without_positives: what it is when there was nothing to find: NaN, or with eleven points 0.0 as in the kits
                up to VOC2009, whose recall of 0/0 reaches no threshold. As an area it is NaN in every kit.
        """
        if not self.positives:
            is_zero = without_positives is WithoutPositives.ZERO and interpolation is Interpolation.ELEVEN_POINT
            return 0.0 if is_zero else float("nan")
        # At all other ranks, recall is constant and precision decreases, so they do not matter.
        ranks = np.flatnonzero(self.true)
        found = np.arange(1, len(ranks) + 1)
        counted = ranks + 1 - np.searchsorted(self._ignored, ranks)
        recall, precision = found / self.positives, found / counted
        if interpolation is Interpolation.ELEVEN_POINT:
            return eleven_point_average(recall, precision)
        areas = np.zeros(len(self.true))  # summed over all ranks, because rounding depends on the order of summation
        areas[ranks] = areas_under_curve(recall, precision)
        return float(areas.sum())

    def details(self, *, results: int, difficult: int) -> ClassDetails:
        """Return the counts; the arguments are known only to the task."""
        curve = self.curve()
        return ClassDetails(
            positives=self.positives,
            results=results,
            difficult=difficult,
            final_recall=float(curve.recall[-1]) if len(curve.recall) else (0.0 if self.positives else float("nan")),
            final_precision=float(curve.precision[-1]) if len(curve.precision) else float("nan"),
        )


def _distances(ranks: NDArray[np.intp], results: int) -> NDArray[np.intp]:
    """Return the (r + 1,) lengths of the parts into which (r,) ranks divide the results.

    Repeating a value for each part is faster than `cumsum` over all results.
    """
    ends = np.empty(len(ranks) + 1, dtype=np.intp)
    ends[:-1], ends[-1] = ranks, results
    ends[1:] -= ends[:-1].copy()
    return ends


def by_confidence(confidence: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return (n,) indices by decreasing confidence; ties keep their order, and −∞ ranks last.

    First sorts numbers that have the quantised confidence in their high bits, and the index in their low ones: NumPy
    sorts integers several times as fast as it finds the order of floating-point numbers. Confidences that differ by
    less than a step can still be in the wrong order; then a second, stable sort corrects it.
    """
    index_bits = len(confidence).bit_length()
    packed = _steps_down(confidence, 1 << (_SORTED_BITS - index_bits))
    packed <<= index_bits
    packed |= np.arange(len(confidence))
    packed.sort()
    packed &= (1 << index_bits) - 1
    ranked = confidence.take(packed)
    if (ranked[1:] <= ranked[:-1]).all():
        return packed
    return packed.take(np.argsort(-ranked, kind="stable"))


def _steps_down(confidence: NDArray[np.float64], steps: int) -> NDArray[np.int64]:
    """(n,) quantised distance to the maximum, 0 to `steps`; monotonic in the confidence."""
    greatest, least = float(confidence.max(initial=-np.inf)), float(confidence.min(initial=np.inf))
    if least == -np.inf:
        least = float(confidence.min(initial=np.inf, where=confidence > -np.inf))
    if not _MIN_SPAN < greatest - least < np.inf:
        return np.zeros(len(confidence), dtype=np.int64)
    return np.minimum((greatest - confidence) * (steps / (greatest - least)), steps).astype(np.int64)


def first_of_each(key: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return a mask of the first occurrences of each value of `key`.

    Args:
        key: (n,) indices; the memory used is proportional to the largest one.

    >>> first_of_each(np.array([7, 3, 7])).tolist()
    [True, True, False]
    """
    place = np.arange(len(key))
    first = np.full(1 + int(key.max(initial=-1)), len(key))
    np.minimum.at(first, key, place)
    is_first: NDArray[np.bool_] = first[key] == place
    return is_first


def areas_under_curve(recall: NDArray[np.float64], precision: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the areas under the steps of the interpolated curve: average precision from VOC2010 on.

    Precision at a recall is the maximum at this recall or any higher one; the area is summed over the steps at each new
    recall. Source: VOC development kit 2010, VOCap.m.

    Args:
        recall: (n,) non-decreasing fractions, by decreasing confidence.
        precision: (n,) fractions at the same ranks.

    Returns:
        (n,) the area under each rank's step; their sum is the average precision.

    >>> areas_under_curve(np.array([0.5, 1.0]), np.array([1.0, 0.5])).tolist()
    [0.5, 0.25]
    """
    areas = recall.copy()
    areas[1:] -= recall[:-1]
    areas *= _best_from_here_on(precision)
    return areas


def eleven_point_average(recall: NDArray[np.float64], precision: NDArray[np.float64]) -> float:
    """Return the mean of the interpolated precision at recalls 0, 0.1 ... 1: average precision up to VOC2009.

    Precision at a recall is the maximum at this recall or any higher one, and 0 for recalls that are not reached.
    Source: VOC development kit 2007, VOCevaldet.m.

    Args:
        recall: (n,) non-decreasing fractions, by decreasing confidence.
        precision: (n,) fractions at the same ranks.

    Returns:
        A fraction. 0.0 for n = 0 (nothing was found).

    >>> eleven_point_average(np.array([0.5]), np.array([1.0]))  # reaches 0, 0.1 ... 0.5
    0.5454545454545454
    """
    best_by_rank = np.append(_best_from_here_on(precision), 0.0)
    return float(np.sum(best_by_rank[np.searchsorted(recall, ELEVEN_RECALLS, side="left")]) / len(ELEVEN_RECALLS))


def _best_from_here_on(precision: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum.accumulate(precision[::-1])[::-1]
