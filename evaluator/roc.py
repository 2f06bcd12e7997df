"""Receiver operating characteristic (ROC) and the two numbers that PASCAL VOC took from it in 2005 and 2006.

Source: VOC development kit 2006, VOCroc.m; "The 2005 PASCAL Visual Object Classes Challenge", section 4.1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.scores import RocCurve


@dataclass(frozen=True, eq=False, slots=True)
class RankedItems:
    """The test items of one class by decreasing confidence, ties in the order of the image set.

    Attributes:
        confidence: (n,) float64, −∞ for items without one.
        positive: (n,) bool.
        negative: (n,) bool; an item of neither kind has only difficult objects and counts neither way.
    """

    confidence: NDArray[np.float64]
    positive: NDArray[np.bool_]
    negative: NDArray[np.bool_]

    def curve(self) -> RocCurve:
        """Return the curve of the development kit: one point for each distinct confidence.

        The point is the one after the first item of that confidence: so the kit gives it, and of a tie it makes the
        order of the image set count.
        """
        new = np.append(True, self.confidence[1:] != self.confidence[:-1])[: len(self.confidence)]
        return self._curve(new)

    def area_under_curve(self) -> float:
        """Return the area under the lower envelope of the kit's curve; see `area_under_envelope`."""
        return area_under_envelope(self.curve())

    def equal_error_accuracy(self) -> float:
        """Return 1 − the equal error rate: the rate that false positives and false negatives have in common.

        The rates are those of each threshold: all items that reach it are taken for positives. Where no threshold makes
        them the same, the points of the two thresholds between which they cross are joined by a straight line.

        Returns:
            A fraction; NaN without positives or without negatives.

        >>> present = np.array([True, False, True])
        >>> RankedItems(np.array([0.9, 0.5, 0.1]), present, ~present).equal_error_accuracy()
        0.5
        """
        last_of_tie = np.append(self.confidence[1:] != self.confidence[:-1], True)[: len(self.confidence)]
        curve = self._curve(last_of_tie)
        if not curve.is_defined:
            return float("nan")
        rate = curve.false_positive_rate
        excess = rate - (1 - curve.true_positive_rate)  # from −1 to 1, non-decreasing
        after = int(np.argmax(excess >= 0))
        before = after - 1
        share = -excess[before] / (excess[after] - excess[before])
        return float(1 - (rate[before] + share * (rate[after] - rate[before])))

    def _curve(self, at: NDArray[np.bool_]) -> RocCurve:
        return RocCurve(_rates(self.negative, at), _rates(self.positive, at))


def area_under_envelope(curve: RocCurve) -> float:
    """Return the area under the curve's lower envelope.

    From one of the envelope's points to the next the area is taken at the left one's true positive rate.

    Returns:
        A fraction; NaN without positives or without negatives.

    >>> area_under_envelope(RocCurve(np.array([0, 0, 1, 1]), np.array([0, 0.5, 0.5, 1])))
    0.5
    """
    if not curve.is_defined:
        return float("nan")
    envelope = curve.envelope()
    return float(np.diff(envelope.false_positive_rate) @ envelope.true_positive_rate[:-1])


def _rates(counted: NDArray[np.bool_], at: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return which share of all that are counted is found at some of the ranks; from 0 to 1, NaN in between if none."""
    total = np.count_nonzero(counted)
    found = np.cumsum(counted)[at]
    inner = found / total if total else np.full(max(len(found), 1), np.nan)
    return np.concatenate([[0.0], inner, [1.0]])
