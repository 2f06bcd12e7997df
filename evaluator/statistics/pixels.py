"""The evidence of segmentation: the confusion matrix of each image."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions
from vocboard.evaluator.rules import BACKGROUND, Competition, Edition, WithoutPositives
from vocboard.evaluator.statistics.evidence import Evidence, not_possible
from vocboard.evaluator.statistics.image_shares import ImageShares
from vocboard.evaluator.statistics.resampled import Resampled
from vocboard.evaluator.tasks.names import Metric
from vocboard.evaluator.tasks.segmentation.definition import ALL_LABELS


@dataclass(frozen=True, eq=False, slots=True)
class SegmentationEvidence(Evidence):
    """The evidence of segmentation.

    Attributes:
        images: number of images of the test set.
        entered: classes entered, in the edition's order, without background.
        confusions: of each image.
    """

    images: int
    entered: tuple[str, ...]
    confusions: ImageConfusions

    def resampled(self, metric: Metric, edition: Edition, competition: Competition) -> Mapping[str, Resampled]:
        """Return the score of background and of each class entered."""
        if metric is Metric.OVERALL_PIXEL_ACCURACY:
            every = np.ones(len(self.confusions.pixels), dtype=np.bool_)
            right = self.confusions.true == self.confusions.found
            return {ALL_LABELS: ImageShares(self._by_image(right), self._by_image(every))}
        if metric not in {Metric.INTERSECTION_OVER_UNION, Metric.PIXEL_ACCURACY}:
            raise not_possible(metric, self)
        zero = metric is Metric.PIXEL_ACCURACY and competition.rules.without_positives is WithoutPositives.ZERO
        labels = {BACKGROUND: 0} | {name: index for index, name in enumerate(competition.classes, start=1)}
        return {
            name: self._shares(labels[name], metric, undefined=0.0 if zero else np.nan)
            for name in (BACKGROUND, *self.entered)
        }

    def _shares(self, label: int, metric: Metric, undefined: float) -> ImageShares:
        found = self.confusions
        is_true, is_found = found.true == label, found.found == label
        of = is_true | is_found if metric is Metric.INTERSECTION_OVER_UNION else is_true
        return ImageShares(self._by_image(is_true & is_found), self._by_image(of), undefined)

    def _by_image(self, counted: NDArray[np.bool_]) -> NDArray[np.float64]:
        pixels = self.confusions.pixels[counted]
        total: NDArray[np.float64] = np.bincount(  # type: ignore[assignment]  # stubs ignore weights
            self.confusions.image[counted], weights=pixels, minlength=self.images
        )
        return total
