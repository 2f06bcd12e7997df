"""Ground truth: what each task scores against, and how it is stored; `reader` reads it from a development kit tree."""

from evaluator.ground_truth.errors import GroundTruthError
from evaluator.ground_truth.ground_truth import GroundTruth, GroundTruthFileError
from evaluator.ground_truth.model import Key
from evaluator.tasks.classification.truth import Labels, LabelTruth
from evaluator.tasks.detection.truth import DetectionTruth
from evaluator.tasks.layout.truth import LayoutTruth
from evaluator.tasks.segmentation.truth import SegmentationTruth
from evaluator.tasks.truth import Truth

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
