"""Measures of a detector beyond its score, as JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.diagnosis import measures
from vocboard.evaluator.diagnosis.characteristics import ASPECTS, SIZES, by_characteristic
from vocboard.evaluator.diagnosis.measures import defined
from vocboard.evaluator.evidence.evidence import EvidenceByClass
from vocboard.evaluator.evidence.ranked_evidence import MatchedResults
from vocboard.evaluator.metrics.best_f1 import best_f1
from vocboard.evaluator.metrics.boxes import area, aspect_ratio
from vocboard.evaluator.metrics.calibration import calibration
from vocboard.evaluator.metrics.matches import OVERLAPS
from vocboard.evaluator.metrics.normalised_precision import NORMAL_SHARE, normalised_average_precision
from vocboard.evaluator.metrics.object_subsets import fifths
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Edition, Overlap, TaskRules
from vocboard.evaluator.scores import Measure
from vocboard.evaluator.tasks.detection.subsets import VIEWS
from vocboard.evaluator.tasks.detection.truth import DetectionTruth

WHETHER = ("unknown", "no", "yes")
Characteristics = Mapping[str, tuple[tuple[str, ...], NDArray[np.integer]]]  # names of the parts, part of each object


def measures_of_detections(
    entry: Entry,
    truth: DetectionTruth,
    edition: Edition,
    evidence: EvidenceByClass[MatchedResults],
) -> dict[str, Any]:
    """Return measures beyond the score, for JSON.

    Args:
        entry: of a competition.
        truth: objects of all classes.
        edition: the edition, whose overlap rule applies.
        evidence: of the entry.
    """
    return {
        "measures": {
            name: _measures(
                each,
                _characteristics(truth, truth.class_index == edition.classes.index(name)),
                evidence.images,
                entry.competition.rules,
                edition.overlap,
            )
            for name, each in evidence.classes.items()
        },
        "mean_over_overlaps": _mean_over_overlaps(evidence, edition, entry),
    }


def _characteristics(truth: DetectionTruth, own: NDArray[np.bool_]) -> Characteristics:
    """Return, for each characteristic, the names of its parts, and the part of each object of a class."""
    box, counted = truth.box[own], ~truth.difficult[own]
    found: dict[str, tuple[tuple[str, ...], NDArray[np.integer]]] = {
        "by_size": (SIZES, fifths(area(box), counted)),
        "by_aspect_ratio": (ASPECTS, fifths(aspect_ratio(box), counted)),
    }
    annotated = (
        ("by_truncation", WHETHER, truth.truncated),
        ("by_occlusion", WHETHER, truth.occluded),
        ("by_view", VIEWS, truth.view),
    )
    return found | {name: (parts, part[own]) for name, parts, part in annotated if part is not None}


def _measures(
    evidence: MatchedResults,
    characteristics: Characteristics,
    images: int,
    rules: TaskRules,
    rule: Overlap,
) -> dict[str, Any]:
    """Return the measures of one class.

    Args:
        evidence: of the class.
        characteristics: of the objects of the class.
        images: number of test images.
        rules: of the competition.
        rule: when an overlap is sufficient.
    """
    judgement = measures.matches_of(evidence, rules, rule)
    by_overlap = measures.at_overlaps(evidence, rules, rule.strict)
    normal = NORMAL_SHARE * images

    def by(names: tuple[str, ...], part: NDArray[np.integer]) -> dict[str, Any]:
        found = by_characteristic(evidence, judgement, part, names, normal)
        return {
            name: {"objects": objects, "normalised_average_precision": defined(score)}
            for name, (objects, score) in found.items()
        }

    best, calibrated = best_f1(judgement, evidence.confidence), calibration(judgement, evidence.confidence)
    recall = measures.recall_by_results_per_image(evidence, judgement)
    return {
        "average_precision_by_overlap": {str(overlap): defined(value) for overlap, value in by_overlap.items()},
        "average_precision_50_95": defined(float(np.mean(list(by_overlap.values())))),
        "normalised_average_precision": defined(normalised_average_precision(judgement, judgement.positives, normal)),
        **{name: by(*parts) for name, parts in characteristics.items()},
        "best_f1": None if best is None else asdict(best),
        "recall_by_results_per_image": {str(number): defined(value) for number, value in recall.items()},
        "calibration": None if calibrated is None else calibrated.as_json(),
    }


def _mean_over_overlaps(
    evidence: EvidenceByClass[MatchedResults], edition: Edition, entry: Entry
) -> dict[str, float | None]:
    """Return the mean over classes of the average precision at each overlap, and over all of them."""
    rules = entry.competition.rules
    by_class = [measures.at_overlaps(each, rules, edition.overlap.strict) for each in evidence.classes.values()]
    means = {
        str(overlap): Measure(rules.metric, {str(place): each[overlap] for place, each in enumerate(by_class)}).mean
        for overlap in OVERLAPS
    }
    return {
        **{overlap: defined(mean) for overlap, mean in means.items()},
        "mean": defined(float(np.mean(list(means.values())))),
    }
