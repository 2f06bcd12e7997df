"""The evidence of segmentation: the confusion matrix of each image."""

from dataclasses import dataclass

from vocboard.evaluator.evidence.evidence import Evidence
from vocboard.evaluator.metrics.boundaries import BoundaryCounts
from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions


@dataclass(frozen=True, eq=False, slots=True)
class SegmentationEvidence(Evidence):
    """The evidence of segmentation.

    Attributes:
        images: number of images of the test set.
        entered: classes entered, in the edition's order, without background.
        confusions: of each image.
        boundaries: pixels near boundaries; None if they were not counted, or the evidence was stored in between.
    """

    images: int
    entered: tuple[str, ...]
    confusions: ImageConfusions
    boundaries: BoundaryCounts | None = None
