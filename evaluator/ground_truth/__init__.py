"""Ground truth and its storage; `reader` reads it from a development kit tree."""

from vocboard.evaluator.ground_truth.ground_truth import GroundTruth, GroundTruthFileError
from vocboard.evaluator.image_sets import Key
from vocboard.evaluator.problems.trees import GroundTruthError
from vocboard.evaluator.tasks.classification.truth import Labels, LabelTruth
from vocboard.evaluator.tasks.detection.truth import DetectionTruth
from vocboard.evaluator.tasks.layout.truth import LayoutTruth
from vocboard.evaluator.tasks.segmentation.truth import SegmentationTruth
from vocboard.evaluator.tasks.truth import Truth

__all__ = [
    "DetectionTruth",
    "GroundTruth",
    "GroundTruthError",
    "GroundTruthFileError",
    "Key",
    "LabelTruth",
    "Labels",
    "LayoutTruth",
    "SegmentationTruth",
    "Truth",
]
