"""Classification in memory: a score for each image and class."""

from vocboard.evaluator.arrays.confidences import ConfidenceArrays


class ClassificationArrays(ConfidenceArrays):
    """Scores of images."""
