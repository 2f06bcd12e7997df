"""Precision/recall curves and average precision, in the two ways PASCAL VOC has taken it.

Source: VOC development kits, VOCevalcls.m, VOCevaldet.m (up to 2009 with eleven points), VOCap.m (from 2010 on);
VOC2010 document section 3.4.1.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evaluator.editions import Interpolation
from evaluator.scores import ClassDetails, Curve

# As the doubles i * 0.1 (0.30000000000000004 and 0.7000000000000001 among them): the kits' `0:0.1:1`. Written as i / 10
# the thresholds change the score of a real class by up to 8e-4.
ELEVEN_RECALLS = np.arange(11) * 0.1

_STEPS = 65535  # the most that NumPy sorts digit by digit
_LEAST_SPAN = 1e-300  # of confidences, to be divided into steps without an overflow


@dataclass(frozen=True, eq=False)
class Judgement:
    """Results of one class in rank order, each judged true, false, or neither (ignored).

    Attributes:
        true: (n,) bool, the true positives by rank.
        false: (n,) bool, the false positives by rank.
        positives: what there was to find.
    """

    true: NDArray[np.bool_]
    false: NDArray[np.bool_]
    positives: int

    def curve(self) -> Curve:
        """Return the precision/recall curve at every rank; see `Curve` for what is undefined."""
        return self._curve

    @cached_property
    def _curve(self) -> Curve:
        found = np.cumsum(self.true)
        counted = np.cumsum(self.true | self.false)
        undefined = np.full(len(found), np.nan)
        recall = found / self.positives if self.positives else undefined
        precision = np.divide(found, counted, out=undefined.copy(), where=counted > 0)
        return Curve(recall, precision)

    def average_precision(self, interpolation: Interpolation) -> float:
        """Return the average precision, 0.0 if nothing was found.

        With nothing to find it is NaN as an area, but 0.0 with eleven points: the kits' numbers, see the functions.
        """
        curve = self.curve()
        if interpolation is Interpolation.ELEVEN_POINT:
            return eleven_point_average(curve.recall, curve.precision)
        return area_under_curve(curve.recall, curve.precision) if self.positives else float("nan")

    def details(self, *, results: int, difficult: int) -> ClassDetails:
        """Return the counts behind the score; the arguments are those that only the task knows."""
        curve = self.curve()
        return ClassDetails(
            positives=self.positives,
            results=results,
            difficult=difficult,
            final_recall=float(curve.recall[-1]) if len(curve.recall) else (0.0 if self.positives else float("nan")),
            final_precision=float(curve.precision[-1]) if len(curve.precision) else float("nan"),
        )


def by_confidence(confidence: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return (n,) indices by decreasing confidence; ties keep their order, and −∞ ranks last.

    Sorted twice, both times keeping ties in order: first by steps of confidence, digit by digit, which leaves so little
    out of order that sorting by confidence itself takes a small part of the time that it takes otherwise.
    """
    roughly = np.argsort(_steps_down(confidence), kind="stable")
    return roughly[np.argsort(-confidence[roughly], kind="stable")]


def _steps_down(confidence: NDArray[np.float64]) -> NDArray[np.uint16]:
    """(n,) how far each is below the greatest, in steps of equal size; never more than one of less confidence."""
    greatest, least = float(confidence.max(initial=-np.inf)), float(confidence.min(initial=np.inf))
    if least == -np.inf:
        least = float(confidence.min(initial=np.inf, where=confidence > -np.inf))
    if not _LEAST_SPAN < greatest - least < np.inf:
        return np.zeros(len(confidence), dtype=np.uint16)
    return np.minimum((greatest - confidence) * (_STEPS / (greatest - least)), _STEPS).astype(np.uint16)


def first_of_each(key: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return a mask of the positions where a value of `key` occurs for the first time.

    >>> first_of_each(np.array([7, 3, 7])).tolist()
    [True, True, False]
    """
    is_first = np.zeros(len(key), dtype=np.bool_)
    is_first[np.unique(key, return_index=True)[1]] = True
    return is_first


def area_under_curve(recall: NDArray[np.float64], precision: NDArray[np.float64]) -> float:
    """Return the area under the interpolated precision/recall curve: average precision from VOC2010 on.

    Precision at a recall is the largest at that recall or any greater one; the area is summed under the steps at each
    new recall. Source: VOC development kit 2010, VOCap.m.

    Args:
        recall: (n,) non-decreasing fractions, by decreasing confidence.
        precision: (n,) fractions at the same ranks; NaN where nothing has been counted yet.

    Returns:
        A fraction. 0.0 for n = 0 (nothing was found); NaN where recall is (there was nothing to find).

    >>> area_under_curve(np.array([0.0, 1.0]), np.array([0.0, 0.5]))
    0.5
    """
    if np.isnan(recall).any():
        return float("nan")
    return float(np.sum(np.diff(recall, prepend=0.0) * _best_from_here_on(precision)))


def eleven_point_average(recall: NDArray[np.float64], precision: NDArray[np.float64]) -> float:
    """Return the mean of the interpolated precision at recalls 0, 0.1 ... 1: average precision up to VOC2009.

    Precision at a recall is the largest at that recall or any greater one, and 0 at recalls never reached.
    Source: VOC development kit 2007, VOCevaldet.m.

    Args:
        recall: (n,) non-decreasing fractions, by decreasing confidence.
        precision: (n,) fractions at the same ranks; NaN where nothing has been counted yet.

    Returns:
        A fraction. 0.0 for n = 0 (nothing was found). Also 0.0 where recall is NaN (there was nothing to find): an
        undefined recall reaches no threshold, and that is what the kits give.

    >>> eleven_point_average(np.array([0.5]), np.array([1.0]))  # reaches 0, 0.1 ... 0.5
    0.5454545454545454
    """
    if np.isnan(recall).any():
        return 0.0
    best_by_rank = np.append(_best_from_here_on(precision), 0.0)
    return float(np.sum(best_by_rank[np.searchsorted(recall, ELEVEN_RECALLS, side="left")]) / len(ELEVEN_RECALLS))


def _best_from_here_on(precision: NDArray[np.float64]) -> NDArray[np.float64]:
    # fmax, not maximum: ranks where nothing has been counted yet have no precision (0/0) and must not spread. The zero
    # in front is for a list in which nothing is counted at all.
    return np.fmax.accumulate(np.append(0.0, precision[::-1]))[:0:-1]
