"""Ground truth: the people of all images, with their keypoints."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.truth import ClassCount, Truth, TruthStatistics, count, object_statistics


@dataclass(frozen=True, eq=False, slots=True)
class KeypointTruth(Truth):
    """People, by image and in the order of its file.

    Attributes:
        image: (n,) int32 index into `ImageSet.images`, non-decreasing.
        class_index: (n,) int16 index into `Edition.classes`.
        area: (n,) float64, in pixels, which similarities are relative to.
        crowd: (n,) bool: a crowd, not a person.
        box: (n, 4) float64: left, top, width and height.
        points: (n, 17, 3) float64: x, y and visibility; 0 if a keypoint is not labelled.
    """

    image: NDArray[np.int32]
    class_index: NDArray[np.int16]
    area: NDArray[np.float64]
    crowd: NDArray[np.bool_]
    box: NDArray[np.float64]
    points: NDArray[np.float64]

    @property
    def ignored(self) -> NDArray[np.bool_]:
        """(n,) bool: people that count neither way, because they are a crowd or have no labelled keypoint."""
        return self.crowd | ~(self.points[:, :, 2] > 0).any(axis=1)

    def class_counts(self, edition: Edition) -> Mapping[str, ClassCount]:
        """Return the number of people that count, and of others, by class."""
        own = {name: self.class_index == index for index, name in enumerate(edition.classes)}
        return {name: ClassCount(count(of & ~self.ignored), count(of & self.ignored)) for name, of in own.items()}

    def statistics(self, public: ImageSet, edition: Edition) -> TruthStatistics:
        """Return how many images and people of each class there are."""
        return object_statistics(self.image, self.class_index, self.ignored, edition.classes)
