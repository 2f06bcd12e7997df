"""What instance segmentation is to pages, documentation and edition files."""

from vocboard.evaluator.rules import Metric, Task, TaskRules
from vocboard.evaluator.tasks.definition import TaskDefinition


class InstanceSegmentation(TaskDefinition):
    """Instance segmentation, also called simultaneous detection and segmentation."""

    task = Task.INSTANCE_SEGMENTATION
    title = "Instance segmentation"
    short_title = "Instances"
    folder = "Segmentation"
    metrics = (Metric.REGION_AVERAGE_PRECISION_50, Metric.REGION_AVERAGE_PRECISION_70)
    needed_fields = frozenset({"class"})
    size_file = "SegmentationClass/{}.png"

    def content(self, rules: TaskRules) -> str:
        """Return the line of a result file."""
        return "<image> <confidence> <RLE>"
