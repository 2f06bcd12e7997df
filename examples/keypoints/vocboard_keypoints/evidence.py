"""Evidence: the similarity of each result to each person of its image, from which COCO's matching follows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.evidence import ClassEvidence, Judged
from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.rules import Overlap, TaskRules


@dataclass(frozen=True, eq=False, slots=True)
class ComparedPeople(ClassEvidence):
    """The results of one class by rank, each compared with all people of its class and image.

    Attributes:
        image: (n,) int32 index into `ImageSet.images`.
        first: (n,) int64 index of each result's first similarity.
        similarity: (p,) float64 object keypoint similarity of each result to each person of its image, in their order.
        person_image: (m,) int32 image of each person, non-decreasing; within an image, those that count come first.
        person_ignored: (m,) bool: counts neither way.
        person_crowd: (m,) bool: several results may match it.
    """

    depends_on_overlap = True
    image: NDArray[np.int32]
    first: NDArray[np.int64]
    similarity: NDArray[np.float64]
    person_image: NDArray[np.int32]
    person_ignored: NDArray[np.bool_]
    person_crowd: NDArray[np.bool_]

    def judged(self, overlap: Overlap, rules: TaskRules, *, with_difficult: bool = False) -> Judged:
        """Match each result, by rank, with the most similar person that is still free, as pycocotools does."""
        if with_difficult:
            raise ValueError("people that are ignored cannot be treated as ordinary ones")
        true = np.zeros(len(self.image), dtype=np.bool_)
        false = np.zeros(len(self.image), dtype=np.bool_)
        taken = np.zeros(len(self.person_image), dtype=np.bool_)
        starts, ends = (np.searchsorted(self.person_image, self.image, side) for side in ("left", "right"))
        for result, (start, end, first) in enumerate(
            zip(starts.tolist(), ends.tolist(), self.first.tolist(), strict=True)
        ):
            best, match = min(overlap.threshold, 1 - 1e-10), -1
            for person in range(start, end):
                if taken[person] and not self.person_crowd[person]:
                    continue
                if match >= 0 and not self.person_ignored[match] and self.person_ignored[person]:
                    break
                similarity = self.similarity[first + person - start]
                if similarity >= best:
                    best, match = similarity, person
            if match >= 0:
                taken[match] = True
            true[result] = match >= 0 and not self.person_ignored[match]
            false[result] = match < 0
        positive_image = self.person_image[~self.person_ignored]
        return Judged(Judgement(true, false, len(positive_image)), self.image, positive_image)
