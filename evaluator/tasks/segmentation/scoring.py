"""Segmentation: which class does each pixel belong to?

Source: VOC development kits, VOCevalseg.m; VOC2010 document section 5.4.
"""

import numpy as np

from vocboard.evaluator.editions import BACKGROUND, Competition, Metric, WithoutPositives
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.confusion_matrix import (
    ImageConfusions,
    frequency_weighted_iou,
    intersection_over_union,
    overall_pixel_accuracy,
    pixel_accuracy,
)
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.scores import CompetitionScores, Measure
from vocboard.evaluator.statistics.pixels import SegmentationEvidence
from vocboard.evaluator.tasks.scorer import LabelMapCounts, Scorer
from vocboard.evaluator.tasks.segmentation.definition import ALL_LABELS
from vocboard.evaluator.tasks.segmentation.truth import SegmentationTruth

ACCURACIES = {
    Metric.INTERSECTION_OVER_UNION: intersection_over_union,
    Metric.PIXEL_ACCURACY: pixel_accuracy,
}
OVERALL = {
    Metric.OVERALL_PIXEL_ACCURACY: overall_pixel_accuracy,
    Metric.FREQUENCY_WEIGHTED_IOU: frequency_weighted_iou,
}


NEAR_BOUNDARIES = frozenset({Metric.BOUNDARY_IOU, Metric.TRIMAP_ACCURACY})


def score(competition: Competition, classes: tuple[str, ...], label_maps: LabelMapCounts) -> CompetitionScores:
    """Score the classes entered and background.

    Args:
        competition: its rules choose the metrics.
        classes: classes entered. The others' pixels stay in the matrix: to label them as a class entered is wrong.
        label_maps: pixels of all test images, and of all classes of the competition.
    """
    matrix = label_maps.confusion_matrix
    labels = (BACKGROUND, *competition.classes)

    def measure(metric: Metric) -> Measure:
        if metric in OVERALL:
            return Measure(metric, {ALL_LABELS: OVERALL[metric](matrix)})
        if metric in NEAR_BOUNDARIES and label_maps.boundaries is None:
            raise ValueError(f"pixels near boundaries were not counted, which {metric} needs")
        if metric is Metric.TRIMAP_ACCURACY and label_maps.boundaries is not None:
            return Measure(metric, {ALL_LABELS: label_maps.boundaries.trimap_accuracy()})
        if metric is Metric.BOUNDARY_IOU and label_maps.boundaries is not None:
            accuracy = label_maps.boundaries.boundary_iou()
        else:
            accuracy = ACCURACIES[metric](matrix)
        if metric is Metric.PIXEL_ACCURACY and competition.rules.without_positives is WithoutPositives.ZERO:
            accuracy = np.nan_to_num(accuracy)
        scored = {BACKGROUND, *classes}
        return Measure(metric, {name: float(accuracy[i]) for i, name in enumerate(labels) if name in scored})

    return CompetitionScores(
        competition=competition.key,
        task=competition.task,
        primary=measure(competition.rules.metric),
        secondary=tuple(measure(metric) for metric in competition.rules.secondary),
        confusion_matrix=matrix,
        images_by_label=label_maps.images_by_label,
        not_entered=tuple(name for name in competition.classes if name not in classes),
    )


class SegmentationScorer(Scorer[SegmentationTruth]):
    """Scores segmentation."""

    def score(
        self,
        entry: Entry,
        truth: SegmentationTruth,
        edition: Edition,
        public: ImageSet,
        label_maps: LabelMapCounts | None,
    ) -> CompetitionScores:
        """Score an entry."""
        if label_maps is None:
            raise ValueError("segmentation is scored by the pixels of its label maps")
        return score(entry.competition, entry.classes, label_maps)

    def evidence(
        self,
        entry: Entry,
        truth: SegmentationTruth,
        edition: Edition,
        public: ImageSet,
        confusions: ImageConfusions | None,
    ) -> SegmentationEvidence:
        """Return the confusion matrix of each image."""
        if confusions is None:
            raise ValueError("the evidence of segmentation is the confusion matrix of each image")
        return SegmentationEvidence(len(public.images), entry.classes, confusions)
