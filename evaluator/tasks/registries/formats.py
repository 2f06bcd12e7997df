"""Readers of result files, by task."""

from collections.abc import Mapping

from vocboard.evaluator.names import Task
from vocboard.evaluator.tasks.action.format import ActionFiles
from vocboard.evaluator.tasks.classification.format import ClassificationFiles
from vocboard.evaluator.tasks.detection.format import DetectionFiles
from vocboard.evaluator.tasks.format import ResultFiles
from vocboard.evaluator.tasks.instance_segmentation.format import InstanceSegmentationFiles
from vocboard.evaluator.tasks.layout.format import LayoutFiles
from vocboard.evaluator.tasks.segmentation.format import SegmentationFiles

FORMATS: Mapping[Task, type[ResultFiles]] = {
    Task.CLASSIFICATION: ClassificationFiles,
    Task.DETECTION: DetectionFiles,
    Task.SEGMENTATION: SegmentationFiles,
    Task.LAYOUT: LayoutFiles,
    Task.ACTION: ActionFiles,
    Task.INSTANCE_SEGMENTATION: InstanceSegmentationFiles,
}
