"""Readers of ground truth, by task.

Separate from the scorers, so that scoring imports no parser.
"""

from collections.abc import Mapping
from typing import Any

from vocboard.evaluator.names import Task
from vocboard.evaluator.tasks.action.ground_truth import ActionTruthReader
from vocboard.evaluator.tasks.classification.ground_truth import ClassificationTruthReader
from vocboard.evaluator.tasks.detection.ground_truth import DetectionTruthReader
from vocboard.evaluator.tasks.instance_segmentation.ground_truth import InstanceSegmentationTruthReader
from vocboard.evaluator.tasks.layout.ground_truth import LayoutTruthReader
from vocboard.evaluator.tasks.segmentation.ground_truth import SegmentationTruthReader
from vocboard.evaluator.tasks.truth_reader import TruthReader

TRUTH_READERS: Mapping[Task, TruthReader[Any]] = {
    Task.CLASSIFICATION: ClassificationTruthReader(),
    Task.DETECTION: DetectionTruthReader(),
    Task.SEGMENTATION: SegmentationTruthReader(),
    Task.LAYOUT: LayoutTruthReader(),
    Task.ACTION: ActionTruthReader(),
    Task.INSTANCE_SEGMENTATION: InstanceSegmentationTruthReader(),
}
