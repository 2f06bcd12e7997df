"""Measures of one class's ranked results beyond the score: other overlaps, few results per image.

They are computed from evidence (`evaluator.statistics`).
"""

from typing import Any

import numpy as np

from vocboard.evaluator.evidence.ranked_evidence import MatchedResults
from vocboard.evaluator.metrics.matches import OVERLAPS
from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.metrics.recall_per_image import place_in_image, recall_of_first
from vocboard.evaluator.rules import Overlap, TaskRules

RESULTS_PER_IMAGE = (1, 2, 5, 10, 20, 50, 100)


def at_overlaps(evidence: MatchedResults, rules: TaskRules, strict: bool) -> dict[float, float]:
    """Return the average precision by required overlap: 0.5 to 0.95, as in COCO.

    Matching and interpolation are those of the competition; COCO's tools interpolate at 101 recalls, and let a
    detection fall back to another object. NaN for a class without positives.

    Source: T.-Y. Lin et al., "Microsoft COCO: Common Objects in Context", ECCV 2014; cocodataset.org, "Detection
    Evaluation".
    """
    return {
        overlap: _judge(evidence, overlap, rules, strict).average_precision(
            rules.interpolation, rules.without_positives
        )
        for overlap in OVERLAPS
    }


def recall_by_results_per_image(evidence: MatchedResults, judgement: Judgement) -> dict[int, float]:
    """Return the recall if only the most confident results of each image are kept, by their number.

    Ties keep the order of the file. NaN for a class without positives; see `recall_of_first`.
    """
    place = place_in_image(evidence.image)
    return {number: recall_of_first(judgement, place, number) for number in RESULTS_PER_IMAGE}


def matches_of(evidence: MatchedResults, rules: TaskRules, rule: Overlap) -> Judgement:
    """Judge results by the rules of a competition."""
    repeats_are_false = rules.repeats_on_difficult_are_false
    return evidence.matches(rule, repeats_on_difficult_are_false=repeats_are_false).judge()


def _judge(evidence: MatchedResults, overlap: float, rules: TaskRules, strict: bool) -> Judgement:
    return matches_of(evidence, rules, Overlap(overlap, strict))


def defined(value: Any) -> Any:
    """Return None for NaN, for JSON."""
    return None if isinstance(value, float) and np.isnan(value) else value
