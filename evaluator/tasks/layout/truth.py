"""Ground truth of person layout: people and their parts."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.truth import ClassCount, ClassStatistics, Truth, TruthStatistics, count


@dataclass(frozen=True, eq=False, slots=True)
class LayoutTruth(Truth):
    """People and their parts.

    These are the people in the image set, or, if layouts identify people by box (VOC2007), all people in its images.

    Attributes:
        image: (n,) int32 index into `ImageSet.images`.
        object: (n,) int32 1-based object index.
        box: (n, 4) float64.
        difficult: (n,) bool.
        part_person: (m,) int32 index of each part's person, non-decreasing.
        part_type: (m,) int8 index into `Edition.parts`.
        part_box: (m, 4) float64.
    """

    image: NDArray[np.int32]
    object: NDArray[np.int32]
    box: NDArray[np.float64]
    difficult: NDArray[np.bool_]
    part_person: NDArray[np.int32]
    part_type: NDArray[np.int8]
    part_box: NDArray[np.float64]

    def class_counts(self, edition: Edition) -> Mapping[str, ClassCount]:
        """Return the number of parts by type."""
        return {name: ClassCount(count(self.part_type == index)) for index, name in enumerate(edition.parts)}

    def statistics(self, public: ImageSet, edition: Edition) -> TruthStatistics:
        """Return how many parts of each type there are, and how many images show one."""

        def of(own: NDArray[np.bool_]) -> ClassStatistics:
            return ClassStatistics(len(np.unique(self.image[self.part_person[own]])), count(own))

        types = {name: of(self.part_type == index) for index, name in enumerate(edition.parts)}
        return TruthStatistics(types, of(np.ones(len(self.part_type), dtype=np.bool_)))
