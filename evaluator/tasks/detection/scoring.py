"""Detection: where are the objects of a class?

Source: VOC development kits, VOCevaldet.m; VOC2010 document section 4.4.
"""

import numpy as np

from vocboard.evaluator.evidence.evidence import EvidenceByClass, Source
from vocboard.evaluator.evidence.ranked_evidence import MatchedResults
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.boxes import best_overlapping
from vocboard.evaluator.metrics.precision_recall import by_confidence
from vocboard.evaluator.results import Detections, Entry
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.detection.metrics import BY_CLASS, BY_ENTRY
from vocboard.evaluator.tasks.detection.truth import DetectionTruth
from vocboard.evaluator.tasks.ranked_scorer import RankedScorer
from vocboard.evaluator.tasks.scorer import LabelMapCounts


def match(detections: Detections, truth: DetectionTruth, class_index: int) -> MatchedResults:
    """Rank one class's detections by decreasing confidence, ties in file order, and match them with objects."""
    of_class = np.flatnonzero(truth.class_index == class_index)
    object_image = truth.image.take(of_class)
    best, overlap = best_overlapping(detections.box, detections.image, truth.box.take(of_class, axis=0), object_image)
    rank = by_confidence(detections.confidence)
    return MatchedResults(
        image=detections.image.take(rank),
        confidence=detections.confidence.take(rank),
        object=best.astype(np.int32).take(rank),
        overlap=overlap.take(rank),
        object_image=object_image,
        object_difficult=truth.difficult.take(of_class),
    )


class DetectionScorer(RankedScorer[DetectionTruth, MatchedResults]):
    """Scores detection."""

    by_class = BY_CLASS
    by_entry = BY_ENTRY

    def evidence(
        self, entry: Entry, truth: DetectionTruth, edition: Edition, public: ImageSet, label_maps: LabelMapCounts | None
    ) -> EvidenceByClass[MatchedResults]:
        """Return the matched detections of each class."""
        classes = {name: match(entry.content[name], truth, edition.classes.index(name)) for name in entry.classes}
        return EvidenceByClass(len(public.images), classes, source=Source(entry, truth, public))
