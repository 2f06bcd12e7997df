"""The registry of tasks, last part: how each is scored. The web process must not import it."""

from collections.abc import Mapping
from typing import Any

from evaluator.rules import Task
from evaluator.tasks.action.scoring import ActionScorer
from evaluator.tasks.classification.scoring import ClassificationScorer
from evaluator.tasks.detection.scoring import DetectionScorer
from evaluator.tasks.instance_segmentation.scoring import InstanceSegmentationScorer
from evaluator.tasks.layout.scoring import LayoutScorer
from evaluator.tasks.scorer import Scorer
from evaluator.tasks.segmentation.scoring import SegmentationScorer

SCORERS: Mapping[Task, Scorer[Any]] = {
    Task.CLASSIFICATION: ClassificationScorer(),
    Task.DETECTION: DetectionScorer(),
    Task.SEGMENTATION: SegmentationScorer(),
    Task.LAYOUT: LayoutScorer(),
    Task.ACTION: ActionScorer(),
    Task.INSTANCE_SEGMENTATION: InstanceSegmentationScorer(),
}
