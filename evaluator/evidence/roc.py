"""Metrics of the receiver operating characteristic, of many selections of the test images at once.

A step of the curve is a group of items with equal confidence. Neighbouring steps that both go straight up, or both
straight to the right, are one line, so they are joined; the curve is the same in every selection.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.evidence.segment_sums import segment_sums
from vocboard.evaluator.evidence.weights import Weights
from vocboard.evaluator.metrics.roc import RankedItems, area_under_curve, equal_error_accuracy
from vocboard.evaluator.names import Metric
from vocboard.evaluator.rules import RocRule


@dataclass(frozen=True, eq=False, slots=True)
class ResampledRoc(Resampled):
    """Area under the curve, or accuracy at the equal error rate, of one class.

    Attributes:
        items: the test items by decreasing confidence.
        image: (n,) int32 index of each item's image.
        metric: `ROC_AUC` or `EQUAL_ERROR_RATE`.
        rule: how points of the curve are joined.
    """

    items: RankedItems
    image: NDArray[np.int32]
    metric: Metric
    rule: RocRule

    def score(self) -> float:
        """Return the metric on the test images."""
        curve = self.items.curve(self.rule)
        return area_under_curve(curve) if self.metric is Metric.ROC_AUC else equal_error_accuracy(curve)

    def replicates(self, weights: Weights) -> NDArray[np.float64]:
        """Return the metric of each selection; NaN without positives or without negatives."""
        right, up = _steps(self.items, self.image, weights)
        if not len(right):
            return np.full(weights.shape[1], np.nan)
        up_before = np.cumsum(up, axis=0) - up
        positives, negatives = up_before[-1] + up[-1], right.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.metric is Metric.ROC_AUC:
                height = 2 * up_before + (up if self.rule is RocRule.STRAIGHT_LINES else 0)
                scores = (right * height).sum(axis=0) / (2 * positives * negatives)
            else:
                scores = _equal_error_accuracy(right, up, positives, negatives, self.rule)
        return np.where((positives == 0) | (negatives == 0), np.nan, scores)


def _steps(
    items: RankedItems, image: NDArray[np.int32], weights: Weights
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (s, b) how many negatives (to the right) and positives (up) each step of the curve has."""
    counted = np.flatnonzero(items.positive | items.negative)
    confidence, positive = items.confidence[counted], items.positive[counted]
    tie = np.cumsum(np.append(True, confidence[1:] != confidence[:-1])[: len(counted)]) - 1
    ties = int(tie[-1]) + 1 if len(tie) else 0
    has_positives = np.bincount(tie[positive], minlength=ties) > 0
    has_negatives = np.bincount(tie[~positive], minlength=ties) > 0
    is_mixed = has_positives & has_negatives
    begins_step = is_mixed | np.append(True, is_mixed[:-1] | (has_positives[1:] != has_positives[:-1]))[:ties]
    step = (np.cumsum(begins_step) - 1)[tie]
    steps = int(step[-1]) + 1 if len(step) else 0
    segment = 2 * step + positive  # in each step negatives first
    order = np.argsort(segment, kind="stable")
    ends = np.cumsum(np.bincount(segment, minlength=2 * steps))
    counts = segment_sums(weights, image[counted[order]], ends).astype(np.int64).reshape(steps, 2, weights.shape[1])
    return counts[:, 0], counts[:, 1]


def _equal_error_accuracy(
    right: NDArray[np.int64],
    up: NDArray[np.int64],
    positives: NDArray[np.int64],
    negatives: NDArray[np.int64],
    rule: RocRule,
) -> NDArray[np.float64]:
    """Return (b,) 1 − the false positive rate where the curve meets the diagonal from (0, 1) to (1, 0)."""
    if rule is RocRule.LOWER_ENVELOPE:  # each step goes to the right, then up
        right = np.stack((right, np.zeros_like(right)), axis=1).reshape(-1, right.shape[1])
        up = np.stack((np.zeros_like(up), up), axis=1).reshape(-1, up.shape[1])
    rate = np.cumsum(right, axis=0) / negatives
    excess = rate - (1 - np.cumsum(up, axis=0) / positives)
    after = np.argmax(excess >= 0, axis=0)
    columns = np.arange(len(after))
    is_first = after == 0
    rate_before = np.where(is_first, 0.0, rate[after - 1, columns])
    excess_before = np.where(is_first, -1.0, excess[after - 1, columns])
    share = -excess_before / (excess[after, columns] - excess_before)
    return np.asarray(1 - (rate_before + share * (rate[after, columns] - rate_before)), dtype=np.float64)
