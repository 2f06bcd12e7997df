"""The mean IoU of labels, weighted by frequency, of many selections of the test images at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.evidence.weights import Weights
from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions, frequency_weighted_iou


@dataclass(frozen=True, eq=False, slots=True)
class ResampledFrequencyWeightedIou(Resampled):
    """The mean IoU of all labels, weighted by their share of the true pixels.

    Attributes:
        confusions: the confusion matrix of each image.
        labels: number of labels, with background.
    """

    confusions: ImageConfusions
    labels: int

    def score(self) -> float:
        """Return the score on the test images; NaN without pixels."""
        return frequency_weighted_iou(self.confusions.matrix(self.labels))

    def replicates(self, weights: Weights) -> NDArray[np.float64]:
        """Return the score of each selection; NaN without pixels."""
        found = self.confusions
        both = found.true == found.found
        correct = self._pixels(found.true, weights, both)
        true, result = self._pixels(found.true, weights), self._pixels(found.found, weights)
        union = true + result - correct
        iou = np.divide(correct, union, out=np.zeros_like(correct), where=union > 0)
        scores = np.full(weights.shape[1], np.nan)
        total = true.sum(axis=0)
        np.divide((iou * true).sum(axis=0), total, out=scores, where=total > 0)
        return scores

    def _pixels(
        self, label: NDArray[np.uint8], weights: Weights, counted: NDArray[np.bool_] | None = None
    ) -> NDArray[np.float64]:
        """Return (labels, b) the number of pixels by label; whole numbers, exact up to 2^53.

        Args:
            label: (k,) by which the entries of `confusions` are counted.
            weights: (images, b) how often each selection draws each image.
            counted: (k,) bool, the entries that count. Default: all.
        """
        pixels = self.confusions.pixels if counted is None else self.confusions.pixels * counted
        by_image = np.zeros((self.labels, len(weights)))
        np.add.at(by_image, (label, self.confusions.image), pixels)
        return np.asarray(by_image @ weights.astype(np.float64), dtype=np.float64)
