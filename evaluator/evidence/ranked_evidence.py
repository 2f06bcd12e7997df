"""The evidence of tasks with ranked results: matched with objects, labelled, or judged as a whole."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.evidence import ClassEvidence, Judged
from vocboard.evaluator.metrics.boxes import is_enough
from vocboard.evaluator.metrics.matches import Matches
from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.metrics.roc import RankedItems
from vocboard.evaluator.rules import Overlap, TaskRules


@dataclass(frozen=True, eq=False, slots=True)
class MatchedResults(ClassEvidence):
    """Results of one class by rank (detections, regions), each with the most similar object of its class and image.

    Attributes:
        image: (n,) int32 index into `ImageSet.images`.
        confidence: (n,) float64, non-increasing.
        object: (n,) int32 index into the objects of the class, the first among equals; meaningless where the overlap
            is 0.
        overlap: (n,) float64 similarity to that object from 0 to 1, of which a metric requires some: the intersection
            over union of boxes or regions. Another, such as that of keypoints, can take its place.
        object_image: (m,) int32 image of each object of the class.
        object_difficult: (m,) bool.
    """

    depends_on_overlap = True
    image: NDArray[np.int32]
    confidence: NDArray[np.float64]
    object: NDArray[np.int32]
    overlap: NDArray[np.float64]
    object_image: NDArray[np.int32]
    object_difficult: NDArray[np.bool_]

    def matches(self, rule: Overlap, *, repeats_on_difficult_are_false: bool = False) -> Matches:
        """Return which results match an object, by an overlap rule."""
        enough = is_enough(self.overlap, rule)
        return Matches(self.object, enough, self.object_difficult, repeats_on_difficult_are_false)

    def judged(self, overlap: Overlap, rules: TaskRules, *, with_difficult: bool = False) -> Judged:
        """Tell which results are right; see `Matches.judge`."""
        matches = self.matches(overlap, repeats_on_difficult_are_false=rules.repeats_on_difficult_are_false)
        positive_image = self.object_image if with_difficult else self.object_image[~self.object_difficult]
        return Judged(matches.judge(with_difficult=with_difficult), self.image, positive_image)


@dataclass(frozen=True, eq=False, slots=True)
class LabelledItems(ClassEvidence):
    """The test items of one class (images, or people) by rank.

    Attributes:
        image: (n,) int32 index into `ImageSet.images`.
        confidence: (n,) float64, non-increasing; −∞ for items without one.
        label: (n,) int8: 1 positive, 0 only difficult objects (ignored), −1 negative.
    """

    depends_on_overlap = False
    image: NDArray[np.int32]
    confidence: NDArray[np.float64]
    label: NDArray[np.int8]

    def judged(self, overlap: Overlap, rules: TaskRules, *, with_difficult: bool = False) -> Judged:
        """Tell which items are positive, and which negative."""
        positive = self.label >= 0 if with_difficult else self.label > 0
        positive_ranks = np.flatnonzero(positive)
        judgement = Judgement(true=positive, false=self.label < 0, positives=len(positive_ranks))
        return Judged(judgement, self.image, self.image.take(positive_ranks))

    def items(self) -> RankedItems:
        """Return the items for a receiver operating characteristic."""
        return RankedItems(self.confidence, positive=self.label > 0, negative=self.label < 0)


@dataclass(frozen=True, eq=False, slots=True)
class JudgedResults(ClassEvidence):
    """Results of one class by rank, where all that is known is which ones are right (person layout).

    Attributes:
        image: (n,) int32 index into `ImageSet.images`.
        true: (n,) bool, true positives.
        false: (n,) bool, false positives; results that are neither are ignored.
        positive_image: (p,) int32 image of each positive.
    """

    depends_on_overlap = False
    image: NDArray[np.int32]
    true: NDArray[np.bool_]
    false: NDArray[np.bool_]
    positive_image: NDArray[np.int32]

    def judged(self, overlap: Overlap, rules: TaskRules, *, with_difficult: bool = False) -> Judged:
        """Return what is stored."""
        if with_difficult:
            raise ValueError("these results do not say which match difficult objects")
        return Judged(Judgement(self.true, self.false, len(self.positive_image)), self.image, self.positive_image)
