"""Readers of results in memory, by task."""

from collections.abc import Mapping

from vocboard.evaluator.arrays.content import ArrayReader
from vocboard.evaluator.names import Task
from vocboard.evaluator.tasks.action.arrays import ActionArrays
from vocboard.evaluator.tasks.classification.arrays import ClassificationArrays
from vocboard.evaluator.tasks.detection.arrays import DetectionArrays
from vocboard.evaluator.tasks.instance_segmentation.arrays import InstanceSegmentationArrays
from vocboard.evaluator.tasks.layout.arrays import LayoutArrays
from vocboard.evaluator.tasks.segmentation.arrays import SegmentationArrays

ARRAY_READERS: Mapping[Task, ArrayReader] = {
    Task.CLASSIFICATION: ClassificationArrays(),
    Task.DETECTION: DetectionArrays(),
    Task.SEGMENTATION: SegmentationArrays(),
    Task.LAYOUT: LayoutArrays(),
    Task.ACTION: ActionArrays(),
    Task.INSTANCE_SEGMENTATION: InstanceSegmentationArrays(),
}
