"""The diagnosis of all competitions that have one."""

from collections.abc import Mapping
from typing import Any

from vocboard.evaluator.diagnosis.classification import diagnose_labels
from vocboard.evaluator.diagnosis.detection import measures_of_detections
from vocboard.evaluator.diagnosis.errors import diagnose
from vocboard.evaluator.diagnosis.objects import diagnose_objects
from vocboard.evaluator.diagnosis.segmentation import diagnose_segmentation
from vocboard.evaluator.diagnosis.what_if import WhatIf
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.evaluation import Confusions
from vocboard.evaluator.evidence.evidence import Evidence, EvidenceByClass
from vocboard.evaluator.evidence.pixels import SegmentationEvidence
from vocboard.evaluator.ground_truth import DetectionTruth, GroundTruth, LabelTruth
from vocboard.evaluator.results import Entry, Results
from vocboard.evaluator.tasks.truth import Truth


def diagnosis(
    results: Results,
    edition: Edition,
    truth: GroundTruth,
    evidence: Mapping[str, Evidence],
    *,
    confusions: Confusions | None = None,
) -> Mapping[str, dict[str, Any]]:
    """Return the diagnosis of each competition that has one, for JSON; only layouts of whole people have none.

    Args:
        results: by competition.
        edition: the edition, whose rules apply.
        truth: ground truth of the same edition.
        evidence: of the same results.
        confusions: received the label maps; None leaves out what is near boundaries, as does not having counted it.
    """
    found = {}
    for key, own in evidence.items():
        entry = results[key]
        competition = entry.competition
        secret = truth.truths[competition.task, competition.image_set]
        if isinstance(own, SegmentationEvidence):
            matrix = own.confusions.matrix(len(competition.classes) + 1)
            counts = None if confusions is None else confusions.counts(competition)
            found[key] = diagnose_segmentation(matrix, competition, None if counts is None else counts.boundaries)
        elif isinstance(secret, LabelTruth):
            found[key] = diagnose_labels(entry, secret)
        elif isinstance(own, EvidenceByClass):
            found[key] = _objects(entry, secret, edition, own)
    return {key: each for key, each in found.items() if each}


def _objects(entry: Entry, truth: Truth, edition: Edition, evidence: EvidenceByClass[Any]) -> dict[str, Any]:
    """Return the diagnosis of results that are matched with objects; empty if there is none."""
    diagnosed = diagnose(entry, truth, edition)
    if diagnosed is None:
        return {}
    found = diagnose_objects(diagnosed, WhatIf(diagnosed, entry.competition.rules))
    if isinstance(truth, DetectionTruth):
        found |= measures_of_detections(entry, truth, edition, evidence)
    return found
