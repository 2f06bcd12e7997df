"""The diagnosis of a detector, as JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.diagnosis import measures
from vocboard.evaluator.diagnosis.characteristics import ASPECTS, SIZES, by_characteristic, fifths
from vocboard.evaluator.diagnosis.errors import ERRORS, Diagnosed, Error, diagnose
from vocboard.evaluator.diagnosis.false_positives import kinds_of_first
from vocboard.evaluator.diagnosis.measures import defined
from vocboard.evaluator.diagnosis.what_if import FALSE_NEGATIVES, FALSE_POSITIVES, MISSED, WhatIf
from vocboard.evaluator.metrics.best_f1 import best_f1
from vocboard.evaluator.metrics.calibration import calibration
from vocboard.evaluator.metrics.matches import OVERLAPS
from vocboard.evaluator.metrics.normalised_precision import NORMAL_SHARE, normalised_average_precision
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Edition, Overlap, TaskRules
from vocboard.evaluator.scores import Measure
from vocboard.evaluator.statistics.evidence import EvidenceByClass
from vocboard.evaluator.statistics.ranked_evidence import MatchedResults
from vocboard.evaluator.tasks.detection.truth import DetectionTruth

FIXES = (*ERRORS, MISSED, FALSE_POSITIVES, FALSE_NEGATIVES)


def diagnose_detections(
    entry: Entry, truth: DetectionTruth, edition: Edition, evidence: EvidenceByClass[MatchedResults]
) -> dict[str, Any]:
    """Return the errors, what the score would be without them, and further measures, for JSON."""
    classes = diagnose(entry.content, truth, edition, entry.competition)
    return {
        "errors": _errors(classes, truth, edition, entry),
        "first_false_positives": {
            name: {kind.value: count for kind, count in kinds_of_first(each).items()} for name, each in classes.items()
        },
        "confused_with": {name: _confused_with(each, edition) for name, each in classes.items()},
        "measures": {
            name: _measures(
                each,
                truth.box[truth.class_index == edition.classes.index(name)],
                evidence.images,
                entry.competition.rules,
                edition.overlap,
            )
            for name, each in evidence.classes.items()
        },
        "mean_over_overlaps": _mean_over_overlaps(evidence, edition, entry),
    }


def _errors(classes: Mapping[str, Diagnosed], truth: DetectionTruth, edition: Edition, entry: Entry) -> dict[str, Any]:
    what_if = WhatIf(classes, truth.class_index, edition.classes, entry.competition.rules)
    score = what_if.score()
    fixed = {fix: what_if.score(fix) for fix in FIXES}
    counts = {
        name: {
            **{error.value: int(np.count_nonzero(each.error == index)) for index, error in enumerate(ERRORS)},
            MISSED: int(np.count_nonzero(what_if.missed(name))),
            "not_found": int(np.count_nonzero(~each.found)),
        }
        for name, each in classes.items()
    }
    kinds = (*(error.value for error in Error), MISSED, "not_found")
    return {
        "counts": {kind: sum(of_class[kind] for of_class in counts.values()) for kind in kinds},
        "score": defined(score.mean),
        "gain": {str(fix): defined(measure.mean - score.mean) for fix, measure in fixed.items()},
        "per_class": {
            name: {
                "counts": counts[name],
                "score": defined(score.per_class[name]),
                "gain": {str(fix): _gain(measure, score, name) for fix, measure in fixed.items()},
            }
            for name in classes
        },
    }


def _gain(fixed: Measure, score: Measure, name: str) -> float | None:
    """Return the gain of a class; None if either score is undefined (without its missed objects, it may have none)."""
    gain: float | None = defined(fixed.per_class[name] - score.per_class[name])
    return gain


def _confused_with(results: Diagnosed, edition: Edition) -> dict[str, int]:
    confused = results.other_class[results.error == ERRORS.index(Error.CLASS)]
    counts = np.bincount(confused, minlength=len(edition.classes))
    return {edition.classes[index]: int(counts[index]) for index in np.argsort(-counts, kind="stable") if counts[index]}


def _measures(
    evidence: MatchedResults, box: NDArray[np.float64], images: int, rules: TaskRules, rule: Overlap
) -> dict[str, Any]:
    """Return the measures of one class.

    Args:
        evidence: of the class.
        box: (m, 4) boxes of its objects.
        images: number of test images.
        rules: of the competition.
        rule: when an overlap is sufficient.
    """
    judgement = measures.matches_of(evidence, rules, rule)
    by_overlap = measures.at_overlaps(evidence, rules, rule.strict)
    normal = NORMAL_SHARE * images
    width, height = box[:, 2] - box[:, 0] + 1, box[:, 3] - box[:, 1] + 1
    counted = ~evidence.object_difficult

    def parts(value: NDArray[np.float64], names: tuple[str, ...]) -> dict[str, Any]:
        found = by_characteristic(evidence, judgement, fifths(value, counted), names, normal)
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
        "by_size": parts(width * height, SIZES),
        "by_aspect_ratio": parts(width / np.maximum(height, 1), ASPECTS),
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
