"""Receiver operating characteristic (ROC) and the two metrics that PASCAL VOC computed from it in 2005 and 2006.

Source: VOC development kit 2006, VOCroc.m; "The 2005 PASCAL Visual Object Classes Challenge", section 4.1.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.rules import RocRule
from vocboard.evaluator.scores import RocCurve


@dataclass(frozen=True, eq=False, slots=True)
class RankedItems:
    """The test items of one class by decreasing confidence, ties in the order of the image set.

    Attributes:
        confidence: (n,) float64, −∞ for items without one.
        positive: (n,) bool.
        negative: (n,) bool; items that are neither have only difficult objects and are ignored.
    """

    confidence: NDArray[np.float64]
    positive: NDArray[np.bool_]
    negative: NDArray[np.bool_]

    def curve(self, rule: RocRule) -> RocCurve:
        """Return the curve, with one point for each distinct confidence.

        All tied items pass the threshold together, so their order does not matter.

        Args:
            rule: `STRAIGHT_LINES` joins the points. `LOWER_ENVELOPE` is what the 2006 kit integrates: it keeps the
                first of the points with the same true positive rate, and goes right, then up from one to the next. The
                kit's `unique(so)` was written for MATLAB versions that return the last index of a tie; since 2012,
                MATLAB returns the first, which gives other scores.
        """
        last_of_tie = np.append(self.confidence[1:] != self.confidence[:-1], True)[: len(self.confidence)]
        curve = RocCurve(_rates(self.negative, last_of_tie), _rates(self.positive, last_of_tie))
        return _lower_envelope(curve) if rule is RocRule.LOWER_ENVELOPE else curve


def area_under_curve(curve: RocCurve) -> float:
    """Return the area under the curve.

    Returns:
        A fraction; NaN without positives or without negatives. Under `RocRule.STRAIGHT_LINES` it is the share of
        correctly ranked pairs of a positive and a negative item, with ties counted as one half.

    >>> area_under_curve(RocCurve(np.array([0, 0, 1]), np.array([0, 0.5, 1])))
    0.75
    """
    if not curve.is_defined:
        return float("nan")
    up = curve.true_positive_rate
    # Not a product of vectors, whose rounding depends on the processor.
    return math.fsum((np.diff(curve.false_positive_rate) * (up[1:] + up[:-1])).tolist()) / 2


def equal_error_accuracy(curve: RocCurve) -> float:
    """Return 1 − the equal error rate, at which the false positive rate equals the false negative rate.

    This is where the curve meets the diagonal from (0, 1) to (1, 0). The 2005 chapter speaks of the "number" of false
    positives and of false negatives; its curves show rates.

    Returns:
        A fraction; NaN without positives or without negatives.

    >>> equal_error_accuracy(RocCurve(np.array([0, 0, 1, 1]), np.array([0, 0.5, 0.5, 1])))
    0.5
    """
    if not curve.is_defined:
        return float("nan")
    rate = curve.false_positive_rate
    excess = rate - (1 - curve.true_positive_rate)  # from −1 to 1, non-decreasing
    after = int(np.argmax(excess >= 0))
    before = after - 1
    share = -excess[before] / (excess[after] - excess[before])
    return float(1 - (rate[before] + share * (rate[after] - rate[before])))


def _lower_envelope(curve: RocCurve) -> RocCurve:
    """Return the corners of the lower envelope, each but the first and last twice: to the right, then up."""
    inner = curve.true_positive_rate[1:-1]
    is_corner = np.concatenate([[True], inner != curve.true_positive_rate[:-2], [True]])
    right = np.repeat(curve.false_positive_rate[is_corner], 2)[1:]
    up = np.repeat(curve.true_positive_rate[is_corner], 2)[:-1]
    return RocCurve(right, up)


def _rates(counted: NDArray[np.bool_], at: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the share of counted items found at given ranks: from 0 to 1, NaN in between if there are none."""
    total = np.count_nonzero(counted)
    found = np.cumsum(counted)[at]
    inner = found / total if total else np.full(max(len(found), 1), np.nan)
    return np.concatenate([[0.0], inner, [1.0]])
