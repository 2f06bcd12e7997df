"""Ground truth of instance segmentation: maps of instances as runs, and the class of each instance."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.label_runs import LabelRuns
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.truth import ClassCount, Truth, TruthStatistics, count, object_statistics


@dataclass(frozen=True, eq=False, slots=True)
class InstanceTruth(Truth):
    """The instances of all images.

    Attributes:
        label: (m,) uint8 label of each run of pixels, counted column by column: 0 background, 1 to n the instances of
            the image, 255 void; those of one image after another.
        last: (m,) int32 index of each run's last pixel in its image.
        end: (n,) int64 where the runs of each image end in `label` and `last`.
        size: (n, 2) int32 width and height in pixels.
        image: (k,) int32 index into `ImageSet.images` of each instance, non-decreasing.
        number: (k,) uint8 its label in that image, increasing.
        class_index: (k,) int16 index into `Edition.classes`.
    """

    label: NDArray[np.uint8]
    last: NDArray[np.int32]
    end: NDArray[np.int64]
    size: NDArray[np.int32]
    image: NDArray[np.int32]
    number: NDArray[np.uint8]
    class_index: NDArray[np.int16]

    @property
    def difficult(self) -> NDArray[np.bool_]:
        """(k,) bool: all False, because label maps cannot mark difficult instances."""
        return np.zeros(len(self.image), dtype=np.bool_)

    def runs(self, image: int) -> LabelRuns:
        """Return the transposed map of an image as runs: (width, height)."""
        own = slice(int(self.end[image - 1]) if image else 0, int(self.end[image]))
        width, height = self.size[image].tolist()
        return LabelRuns(self.label[own], self.last[own], (width, height))

    def class_counts(self, edition: Edition) -> Mapping[str, ClassCount]:
        """Return the number of instances by class."""
        return {name: ClassCount(count(self.class_index == index)) for index, name in enumerate(edition.classes)}

    def statistics(self, public: ImageSet, edition: Edition) -> TruthStatistics:
        """Return how many images and objects of each class there are."""
        return object_statistics(self.image, self.class_index, self.difficult, edition.classes)
