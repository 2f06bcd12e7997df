"""Segmentation: which class does each pixel belong to?

Source: VOC development kits, VOCevalseg.m; VOC2010 document section 5.4.
"""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import BACKGROUND, Competition, Metric, WithoutPositives
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions, intersection_over_union, pixel_accuracy
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.scores import CompetitionScores, Measure
from vocboard.evaluator.statistics.pixels import SegmentationEvidence
from vocboard.evaluator.tasks.scorer import Scorer
from vocboard.evaluator.tasks.segmentation.truth import SegmentationTruth

ACCURACIES = {
    Metric.INTERSECTION_OVER_UNION: intersection_over_union,
    Metric.PIXEL_ACCURACY: pixel_accuracy,
}


def score(competition: Competition, classes: tuple[str, ...], confusion_matrix: NDArray[np.int64]) -> CompetitionScores:
    """Score the classes entered and background.

    Args:
        competition: its rules choose the metrics.
        classes: classes entered. The others' pixels stay in the matrix: to label them as a class entered is wrong.
        confusion_matrix: (n + 1, n + 1) pixels over all test images and all classes of the competition; rows are ground
            truth, columns results, background first.
    """
    labels = (BACKGROUND, *competition.classes)

    def measure(metric: Metric) -> Measure:
        accuracy = ACCURACIES[metric](confusion_matrix)
        if metric is Metric.PIXEL_ACCURACY and competition.rules.without_positives is WithoutPositives.ZERO:
            accuracy = np.nan_to_num(accuracy)
        scored = {BACKGROUND, *classes}
        return Measure(metric, {name: float(accuracy[i]) for i, name in enumerate(labels) if name in scored})

    return CompetitionScores(
        competition=competition.key,
        task=competition.task,
        primary=measure(competition.rules.metric),
        secondary=tuple(measure(metric) for metric in competition.rules.secondary),
        confusion_matrix=confusion_matrix,
        not_entered=tuple(name for name in competition.classes if name not in classes),
    )


class SegmentationScorer(Scorer[SegmentationTruth]):
    """Scores segmentation."""

    def score(
        self, entry: Entry, truth: SegmentationTruth, edition: Edition, confusion_matrix: NDArray[np.int64] | None
    ) -> CompetitionScores:
        """Score an entry."""
        if confusion_matrix is None:
            raise ValueError("segmentation is scored by its confusion matrix")
        return score(entry.competition, entry.classes, confusion_matrix)

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
