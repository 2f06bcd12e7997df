"""Ground truth of detection: the objects of all classes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.truth import ClassCount, Truth, TruthStatistics, count, object_statistics


@dataclass(frozen=True, eq=False, slots=True)
class DetectionTruth(Truth):
    """The objects of the edition's classes, by image and in the order of the annotation.

    Attributes:
        image: (n,) int32 index into `ImageSet.images`, non-decreasing.
        class_index: (n,) int16 index into `Edition.classes`.
        box: (n, 4) float64; see `evaluator.metrics.boxes`.
        difficult: (n,) bool.
        truncated: (n,) uint8, `UNKNOWN`, `NO` or `YES` of `subsets`; None in ground truth stored by versions that did
            not read it.
        occluded: (n,) uint8, as above.
        view: (n,) uint8 index into `VIEWS`; None as above.
    """

    image: NDArray[np.int32]
    class_index: NDArray[np.int16]
    box: NDArray[np.float64]
    difficult: NDArray[np.bool_]
    truncated: NDArray[np.uint8] | None = None
    occluded: NDArray[np.uint8] | None = None
    view: NDArray[np.uint8] | None = None

    def class_counts(self, edition: Edition) -> Mapping[str, ClassCount]:
        """Return the numbers of objects and of difficult objects, by class."""
        return {
            name: ClassCount(
                count((self.class_index == index) & ~self.difficult),
                count((self.class_index == index) & self.difficult),
            )
            for index, name in enumerate(edition.classes)
        }

    def statistics(self, public: ImageSet, edition: Edition) -> TruthStatistics:
        """Return how many images and objects of each class there are."""
        return object_statistics(self.image, self.class_index, self.difficult, edition.classes)
