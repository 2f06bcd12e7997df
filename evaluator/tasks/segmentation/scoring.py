"""Segmentation: which class does each pixel belong to?

Source: VOC development kits, VOCevalseg.m; VOC2010 document section 5.4.
"""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import BACKGROUND, Competition, Metric, WithoutPositives
from vocboard.evaluator.ground_truth.image_set_files import Listed
from vocboard.evaluator.ground_truth.material import Material
from vocboard.evaluator.ground_truth.model import Key
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.confusion_matrix import intersection_over_union, pixel_accuracy
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Edition, TaskRules
from vocboard.evaluator.scores import CompetitionScores, Measure
from vocboard.evaluator.tasks.scorer import Scorer
from vocboard.evaluator.tasks.segmentation.ground_truth import LABEL_MAP_FILE, read_label_maps
from vocboard.evaluator.tasks.segmentation.truth import SegmentationTruth

ACCURACIES = {
    Metric.INTERSECTION_OVER_UNION: intersection_over_union,
    Metric.PIXEL_ACCURACY: pixel_accuracy,
}


def score(competition: Competition, classes: tuple[str, ...], confusion_matrix: NDArray[np.int64]) -> CompetitionScores:
    """Score the classes entered and background.

    Args:
        competition: its rules choose the metrics.
        classes: those entered. The others' pixels stay in the matrix: to label them as a class entered is wrong.
        confusion_matrix: (n + 1, n + 1) pixels over all test images and all of the competition's classes, rows truth,
            columns result, background first.
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
    """Reads the ground truth of segmentation and scores it."""

    needs_annotations = False
    image_files = (LABEL_MAP_FILE,)

    def read(
        self, key: Key, listed: Listed, rules: TaskRules, material: Material
    ) -> tuple[ImageSet, SegmentationTruth | str]:
        """Return the public half and the truth; see `Scorer.read`."""
        return read_label_maps(listed, material)

    def score(
        self, entry: Entry, truth: SegmentationTruth, edition: Edition, confusion_matrix: NDArray[np.int64] | None
    ) -> CompetitionScores:
        """Score what was entered."""
        if confusion_matrix is None:
            raise ValueError("segmentation is scored by its confusion matrix")
        return score(entry.competition, entry.classes, confusion_matrix)
