"""The diagnosis of all competitions that have one: classification, detection and segmentation."""

from collections.abc import Mapping
from typing import Any

from vocboard.evaluator.diagnosis.classification import diagnose_classification
from vocboard.evaluator.diagnosis.detection import diagnose_detections
from vocboard.evaluator.diagnosis.segmentation import diagnose_segmentation
from vocboard.evaluator.editions import Edition, Task
from vocboard.evaluator.ground_truth import DetectionTruth, GroundTruth, LabelTruth
from vocboard.evaluator.results import Results
from vocboard.evaluator.statistics.evidence import Evidence, EvidenceByClass
from vocboard.evaluator.statistics.pixels import SegmentationEvidence


def diagnosis(
    results: Results, edition: Edition, truth: GroundTruth, evidence: Mapping[str, Evidence]
) -> Mapping[str, dict[str, Any]]:
    """Return the diagnosis of each competition that has one, for JSON.

    Args:
        results: by competition.
        edition: the edition, whose rules apply.
        truth: ground truth of the same edition.
        evidence: of the same results.
    """
    found: dict[str, dict[str, Any]] = {}
    for key, own in evidence.items():
        entry = results[key]
        secret = truth.truths[entry.competition.task, entry.competition.image_set]
        if isinstance(secret, DetectionTruth) and isinstance(own, EvidenceByClass):
            found[key] = diagnose_detections(entry, secret, edition, own)
        elif (
            entry.competition.task is Task.CLASSIFICATION
            and isinstance(secret, LabelTruth)
            and isinstance(own, EvidenceByClass)
        ):
            found[key] = diagnose_classification(own, secret)
        elif isinstance(own, SegmentationEvidence):
            matrix = own.confusions.matrix(len(entry.competition.classes) + 1)
            found[key] = diagnose_segmentation(matrix, entry.competition)
    return found
