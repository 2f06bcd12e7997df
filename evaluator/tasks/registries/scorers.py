"""Scorers, by task."""

from collections.abc import Mapping
from typing import Any

from vocboard.evaluator.names import Task
from vocboard.evaluator.tasks.action.scoring import ActionScorer
from vocboard.evaluator.tasks.classification.scoring import ClassificationScorer
from vocboard.evaluator.tasks.detection.scoring import DetectionScorer
from vocboard.evaluator.tasks.instance_segmentation.scoring import InstanceSegmentationScorer
from vocboard.evaluator.tasks.layout.scoring import LayoutScorer
from vocboard.evaluator.tasks.scorer import Scorer
from vocboard.evaluator.tasks.segmentation.scoring import SegmentationScorer

SCORERS: Mapping[Task, Scorer[Any]] = {
    Task.CLASSIFICATION: ClassificationScorer(),
    Task.DETECTION: DetectionScorer(),
    Task.SEGMENTATION: SegmentationScorer(),
    Task.LAYOUT: LayoutScorer(),
    Task.ACTION: ActionScorer(),
    Task.INSTANCE_SEGMENTATION: InstanceSegmentationScorer(),
}
