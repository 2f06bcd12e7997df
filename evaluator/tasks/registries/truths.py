"""Types of ground truth, by task."""

from collections.abc import Mapping

from vocboard.evaluator.names import Task
from vocboard.evaluator.tasks.classification.truth import LabelTruth
from vocboard.evaluator.tasks.detection.truth import DetectionTruth
from vocboard.evaluator.tasks.instance_segmentation.truth import InstanceTruth
from vocboard.evaluator.tasks.layout.truth import LayoutTruth
from vocboard.evaluator.tasks.segmentation.truth import SegmentationTruth
from vocboard.evaluator.tasks.truth import Truth

TRUTHS: Mapping[Task, type[Truth]] = {
    Task.CLASSIFICATION: LabelTruth,
    Task.DETECTION: DetectionTruth,
    Task.SEGMENTATION: SegmentationTruth,
    Task.LAYOUT: LayoutTruth,
    Task.ACTION: LabelTruth,
    Task.INSTANCE_SEGMENTATION: InstanceTruth,
}
