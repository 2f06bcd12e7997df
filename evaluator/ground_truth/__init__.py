"""Ground truth: read from a development kit tree, stored, and taken apart into what each task scores against."""

from evaluator.ground_truth.errors import GroundTruthError
from evaluator.ground_truth.ground_truth import GroundTruth, GroundTruthFileError
from evaluator.ground_truth.model import (
    DetectionTruth,
    Key,
    Labels,
    LabelTruth,
    LayoutTruth,
    SegmentationTruth,
    Truth,
)
from evaluator.ground_truth.reader import read_ground_truth
from evaluator.ground_truth.summary import ClassCount, TaskSummary, summarise

__all__ = [
    "ClassCount",
    "DetectionTruth",
    "GroundTruth",
    "GroundTruthError",
    "GroundTruthFileError",
    "Key",
    "LabelTruth",
    "Labels",
    "LayoutTruth",
    "SegmentationTruth",
    "TaskSummary",
    "Truth",
    "read_ground_truth",
    "summarise",
]
