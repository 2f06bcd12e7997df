"""A metric with an overlap of its own is computed at that overlap, or not at all."""

import numpy as np
import pytest

from vocboard.evaluator.editions import Metric, load
from vocboard.evaluator.evidence.evidence import ClassEvidence
from vocboard.evaluator.evidence.ranked_evidence import JudgedResults, LabelledItems, MatchedResults
from vocboard.evaluator.rules import Competition
from vocboard.evaluator.tasks.definitions import METRICS
from vocboard.evaluator.tasks.ranked_classes import (
    ClassMetric,
    RankedClass,
    average_precision,
    average_precision_area,
    mean_over_overlaps,
)
from vocboard.evaluator.tasks.scorer import score_of
from vocboard.evaluator.tasks.segmentation.metrics import BY_PIXELS

EDITION = load("VOC2012")
COMPETITION: Competition = next(iter(EDITION.competitions.values()))
IMAGE, CONFIDENCE = np.array([0], dtype=np.int32), np.array([0.5])
LABELLED = LabelledItems(IMAGE, CONFIDENCE, np.array([1], dtype=np.int8))
JUDGED = JudgedResults(IMAGE, np.array([True]), np.array([False]), IMAGE)


def ranked(metric: Metric, results: ClassEvidence) -> RankedClass[ClassEvidence]:
    return RankedClass(metric, results, EDITION, COMPETITION, images=1)


@pytest.mark.parametrize("results", [LABELLED, JUDGED], ids=["labelled", "judged"])
@pytest.mark.parametrize("compute", [average_precision, average_precision_area])
def test_a_score_at_another_overlap_is_not_that_of_the_editions(results: ClassEvidence, compute: ClassMetric) -> None:
    assert score_of(compute(ranked(Metric.AVERAGE_PRECISION, results))) == 1
    with pytest.raises(ValueError, match=r"average_precision_75 cannot require an overlap of 0\.75"):
        compute(ranked(Metric.AVERAGE_PRECISION_75, results))


@pytest.mark.parametrize("results", [LABELLED, JUDGED], ids=["labelled", "judged"])
def test_a_mean_over_overlaps_is_not_of_equal_numbers(results: ClassEvidence) -> None:
    with pytest.raises(ValueError, match=r"cannot require an overlap of 0\.5"):
        mean_over_overlaps(ranked(Metric.AVERAGE_PRECISION_50_95, results))


def test_matched_results_are_judged_at_the_overlap_of_the_metric() -> None:
    matched = MatchedResults(IMAGE, CONFIDENCE, IMAGE, np.array([0.62]), IMAGE, np.array([False]))
    scores = [
        score_of(compute(ranked(metric, matched)))
        for metric, compute in (
            (Metric.AVERAGE_PRECISION, average_precision),
            (Metric.AVERAGE_PRECISION_75, average_precision),
            (Metric.AVERAGE_PRECISION_50_95, mean_over_overlaps),
        )
    ]
    assert scores == pytest.approx([1, 0, 0.3])  # 0.5, 0.55 and 0.6 of ten overlaps


def test_no_metric_of_pixels_has_an_overlap() -> None:
    assert [metric for metric in BY_PIXELS if METRICS[metric].overlap is not None] == []
