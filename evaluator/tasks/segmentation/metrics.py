"""How each metric of segmentation is computed from the pixels of the label maps.

A function gets the `Pixels` of an entry and returns the metric of each label, or of all of them together under
`ALL_LABELS`: a `Resampled`, which has the score on the test images and on any selection of them (`ImageShares` is a
ratio of sums over images).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.frequency_weighted_iou import ResampledFrequencyWeightedIou
from vocboard.evaluator.evidence.image_shares import ImageShares
from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.metrics.boundaries import BoundaryCounts
from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions
from vocboard.evaluator.names import Metric
from vocboard.evaluator.rules import BACKGROUND, Competition, WithoutPositives
from vocboard.evaluator.tasks.segmentation.definition import ALL_LABELS


@dataclass(frozen=True, eq=False, slots=True)
class Pixels:
    """The pixels of an entry, by image.

    Attributes:
        competition: the competition.
        entered: classes entered, in the edition's order, without background.
        images: number of test images.
        confusions: the confusion matrix of each image, without void. It has the labels of all classes of the
            competition: to label the pixels of another class as a class entered is wrong.
        boundaries: pixels near boundaries; None if they were not counted.
    """

    competition: Competition
    entered: tuple[str, ...]
    images: int
    confusions: ImageConfusions
    boundaries: BoundaryCounts | None = None

    @property
    def near_boundaries(self) -> BoundaryCounts:
        """The pixels near boundaries.

        Raises:
            ValueError: they were not counted.
        """
        if self.boundaries is None:
            raise ValueError("pixels near boundaries were not counted, and stored evidence does not have them")
        return self.boundaries

    @property
    def labels(self) -> Mapping[str, int]:
        """The label of background and of each class entered."""
        labels = {name: index for index, name in enumerate(self.competition.classes, start=1)}
        return {BACKGROUND: 0} | {name: labels[name] for name in labels if name in self.entered}

    def by_image(self, counted: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the (images,) number of pixels in some of the entries of `confusions`."""
        return self.total(self.confusions.image[counted], self.confusions.pixels[counted])

    def total(self, image: NDArray[np.int32], pixels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the (images,) sum of (k,) numbers of pixels by their (k,) image."""
        total: NDArray[np.float64] = np.bincount(image, weights=pixels, minlength=self.images)  # type: ignore[assignment]  # stubs ignore weights
        return total


Values = Mapping[str, Resampled]


def intersection_over_union(pixels: Pixels) -> Values:
    """Return each label's TP / (TP + FP + FN), the accuracy from VOC2008 on; NaN if no pixel has it."""
    found = pixels.confusions
    return {
        name: ImageShares(
            pixels.by_image((found.true == label) & (found.found == label)),
            pixels.by_image((found.true == label) | (found.found == label)),
        )
        for name, label in pixels.labels.items()
    }


def pixel_accuracy(pixels: Pixels) -> Values:
    """Return the share of each label's true pixels that are labelled correctly, the accuracy of VOC2007.

    Without true pixels it is NaN, or 0 if the rules say so, as in the 2007 kit.
    """
    found = pixels.confusions
    undefined = 0.0 if pixels.competition.rules.without_positives is WithoutPositives.ZERO else np.nan
    return {
        name: ImageShares(
            pixels.by_image((found.true == label) & (found.found == label)),
            pixels.by_image(found.true == label),
            undefined,
        )
        for name, label in pixels.labels.items()
    }


def overall_pixel_accuracy(pixels: Pixels) -> Values:
    """Return the share of all pixels that are labelled correctly (Long et al. 2015); NaN without pixels."""
    every = np.ones(len(pixels.confusions.pixels), dtype=np.bool_)
    right = pixels.confusions.true == pixels.confusions.found
    return {ALL_LABELS: ImageShares(pixels.by_image(right), pixels.by_image(every))}


def weighted_by_frequency(pixels: Pixels) -> Values:
    """Return the mean IoU of all labels, weighted by their share of the true pixels."""
    return {ALL_LABELS: ResampledFrequencyWeightedIou(pixels.confusions, len(pixels.competition.classes) + 1)}


def boundary_iou(pixels: Pixels) -> Values:
    """Return the boundary IoU of each label; see `BoundaryCounts.boundary_iou`."""
    counts = pixels.near_boundaries
    return {
        name: ImageShares(
            pixels.total(counts.image, counts.both * (counts.label == label)),
            pixels.total(counts.image, counts.either * (counts.label == label)),
        )
        for name, label in pixels.labels.items()
    }


def trimap_accuracy(pixels: Pixels) -> Values:
    """Return the share of the pixels near boundaries that are labelled correctly; see `BoundaryCounts`."""
    counts = pixels.near_boundaries
    right, total = (pixels.total(counts.trimap_image, each) for each in (counts.trimap_right, counts.trimap_pixels))
    return {ALL_LABELS: ImageShares(right, total)}


# Pixels near boundaries are only counted if the rules have one of these metrics: it takes fifty times as long.
NEAR_BOUNDARIES: Mapping[Metric, Callable[[Pixels], Values]] = {
    Metric.BOUNDARY_IOU: boundary_iou,
    Metric.TRIMAP_ACCURACY: trimap_accuracy,
}
BY_PIXELS: Mapping[Metric, Callable[[Pixels], Values]] = {
    Metric.INTERSECTION_OVER_UNION: intersection_over_union,
    Metric.PIXEL_ACCURACY: pixel_accuracy,
    Metric.OVERALL_PIXEL_ACCURACY: overall_pixel_accuracy,
    Metric.FREQUENCY_WEIGHTED_IOU: weighted_by_frequency,
    **NEAR_BOUNDARIES,
}
