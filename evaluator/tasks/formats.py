"""The registry of tasks, second part: how their result files are read. The web process may import it."""

from collections.abc import Mapping

from evaluator.rules import Task
from evaluator.tasks.action.format import ActionFiles
from evaluator.tasks.classification.format import ClassificationFiles
from evaluator.tasks.detection.format import DetectionFiles
from evaluator.tasks.format import ResultFiles
from evaluator.tasks.instance_segmentation.format import InstanceSegmentationFiles
from evaluator.tasks.layout.format import LayoutFiles
from evaluator.tasks.segmentation.format import SegmentationFiles

FORMATS: Mapping[Task, type[ResultFiles]] = {
    Task.CLASSIFICATION: ClassificationFiles,
    Task.DETECTION: DetectionFiles,
    Task.SEGMENTATION: SegmentationFiles,
    Task.LAYOUT: LayoutFiles,
    Task.ACTION: ActionFiles,
    Task.INSTANCE_SEGMENTATION: InstanceSegmentationFiles,
}
