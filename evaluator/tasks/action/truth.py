"""Ground truth of action classification: labels of people, as classification has labels of images."""

from vocboard.evaluator.tasks.classification.truth import LabelTruth

__all__ = ["LabelTruth"]
