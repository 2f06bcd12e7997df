"""How results are stored as columns, by task."""

from collections.abc import Mapping

from vocboard.evaluator.names import Task
from vocboard.evaluator.tasks.action.columns import ActionColumns
from vocboard.evaluator.tasks.classification.columns import ConfidenceColumns
from vocboard.evaluator.tasks.content_columns import ContentColumns
from vocboard.evaluator.tasks.detection.columns import DetectionColumns
from vocboard.evaluator.tasks.instance_segmentation.columns import RegionColumns
from vocboard.evaluator.tasks.layout.columns import LayoutColumns
from vocboard.evaluator.tasks.segmentation.columns import SegmentedColumns

COLUMNS: Mapping[Task, ContentColumns] = {
    Task.CLASSIFICATION: ConfidenceColumns(),
    Task.DETECTION: DetectionColumns(),
    Task.SEGMENTATION: SegmentedColumns(),
    Task.LAYOUT: LayoutColumns(),
    Task.ACTION: ActionColumns(),
    Task.INSTANCE_SEGMENTATION: RegionColumns(),
}
