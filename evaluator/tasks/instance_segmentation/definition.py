"""Definition of instance segmentation."""

from types import MappingProxyType

from vocboard.evaluator.metrics.shared_metrics import MetricDefinition
from vocboard.evaluator.names import Metric, Task
from vocboard.evaluator.rules import TaskRules
from vocboard.evaluator.tasks.definition import StatisticsTable, TaskDefinition


class InstanceSegmentation(TaskDefinition):
    """Instance segmentation, also called simultaneous detection and segmentation."""

    task = Task.INSTANCE_SEGMENTATION
    title = "Instance segmentation"
    short_title = "Instances"
    folder = "Segmentation"
    tree_folders = ("SegmentationClass", "SegmentationObject")
    results_noun = "regions"
    metrics = MappingProxyType(
        {
            Metric.REGION_AVERAGE_PRECISION_50: MetricDefinition(
                "Average precision of regions, overlap 0.5", "AP^r 0.5", uses_interpolation=True, overlap=0.5
            ),
            Metric.REGION_AVERAGE_PRECISION_70: MetricDefinition(
                "Average precision of regions, overlap 0.7", "AP^r 0.7", uses_interpolation=True, overlap=0.7
            ),
        }
    )
    icon = (
        '<path d="M3 13c0-5 3-8 6-8s4 4 3 8-9 6-9 0z" fill="currentColor" fill-opacity=".3"/>'
        '<path d="M13 17c0-4 2-7 5-7s3 3 3 6-8 6-8 1z"/>'
    )
    needed_fields = frozenset({"class"})
    size_file = "SegmentationClass/{}.png"
    statistics = StatisticsTable("instance_segmentation", counts_truncated=True)
    new_edition_rules = (
        'file = "Instances/{competition}_inst_{image_set}_{class}.txt"\nmetric = "region_average_precision_50"\n'
        'secondary = ["region_average_precision_70"]\nboard = ["region_average_precision_70"]\ninterpolation = "area"'
    )

    def content(self, rules: TaskRules) -> str:
        """Return the line of a result file."""
        return "<image> <confidence> <RLE>"
