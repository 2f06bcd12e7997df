"""The registry of tasks, third part: what each scores against. The web process must not import it."""

from collections.abc import Mapping

from evaluator.rules import Task
from evaluator.tasks.classification.truth import LabelTruth
from evaluator.tasks.detection.truth import DetectionTruth
from evaluator.tasks.instance_segmentation.truth import InstanceTruth
from evaluator.tasks.layout.truth import LayoutTruth
from evaluator.tasks.segmentation.truth import SegmentationTruth
from evaluator.tasks.truth import Truth

TRUTHS: Mapping[Task, type[Truth]] = {
    Task.CLASSIFICATION: LabelTruth,
    Task.DETECTION: DetectionTruth,
    Task.SEGMENTATION: SegmentationTruth,
    Task.LAYOUT: LayoutTruth,
    Task.ACTION: LabelTruth,
    Task.INSTANCE_SEGMENTATION: InstanceTruth,
}
