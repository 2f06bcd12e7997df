"""How each metric of detection is computed from the ranked detections of a class."""

from collections.abc import Mapping

import numpy as np

from vocboard.evaluator.evidence.image_shares import ImageShares
from vocboard.evaluator.evidence.normalised_precision import ResampledNormalisedPrecision
from vocboard.evaluator.evidence.ranked_evidence import MatchedResults
from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.metrics.normalised_precision import NORMAL_SHARE
from vocboard.evaluator.metrics.recall_per_image import place_in_image
from vocboard.evaluator.names import Metric
from vocboard.evaluator.tasks.detection.subset_scores import score_of_subset
from vocboard.evaluator.tasks.detection.subsets import SUBSETS
from vocboard.evaluator.tasks.ranked_classes import (
    ClassMetric,
    RankedClass,
    average_precision,
    average_precision_area,
    average_precision_with_difficult,
    best_f1_by_confidence,
    calibration_error,
    mean_over_overlaps,
)
from vocboard.evaluator.tasks.ranked_scorer import EntryMetric


def normalised(ranked: RankedClass[MatchedResults]) -> Resampled:
    """Return the average precision as if the class had as many objects as 15 % of the number of images."""
    judged = ranked.judged()
    normal = NORMAL_SHARE * ranked.images
    return ResampledNormalisedPrecision(judged.judgement, judged.image, judged.positive_image, normal)


def recall_per_image(number: int) -> ClassMetric:
    """Return the metric that keeps so many detections of each image: `recall_of_first`, but with replicates."""

    def recall(ranked: RankedClass[MatchedResults]) -> Resampled:
        judged = ranked.judged()
        found = judged.judgement.true & (place_in_image(judged.image) < number)
        images = 1 + int(judged.positive_image.max(initial=-1))
        correct, total = (np.bincount(each, minlength=images) for each in (judged.image[found], judged.positive_image))
        return ImageShares(correct.astype(np.float64), total.astype(np.float64))

    return recall


BY_CLASS: Mapping[Metric, ClassMetric] = {
    Metric.AVERAGE_PRECISION: average_precision,
    Metric.AVERAGE_PRECISION_AREA: average_precision_area,
    Metric.AVERAGE_PRECISION_WITH_DIFFICULT: average_precision_with_difficult,
    Metric.AVERAGE_PRECISION_75: average_precision,
    Metric.AVERAGE_PRECISION_50_95: mean_over_overlaps,
    Metric.NORMALISED_AVERAGE_PRECISION: normalised,
    Metric.BEST_F1: best_f1_by_confidence,
    Metric.RECALL_1_PER_IMAGE: recall_per_image(1),
    Metric.RECALL_10_PER_IMAGE: recall_per_image(10),
    Metric.RECALL_100_PER_IMAGE: recall_per_image(100),
    Metric.CALIBRATION_ERROR: calibration_error,
}
BY_ENTRY: Mapping[Metric, EntryMetric] = dict.fromkeys(SUBSETS, score_of_subset)
