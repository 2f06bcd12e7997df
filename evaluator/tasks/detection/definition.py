"""Definition of detection."""

from types import MappingProxyType

from vocboard.evaluator.metrics.definitions import MetricDefinition
from vocboard.evaluator.rules import TaskRules
from vocboard.evaluator.tasks.definition import AVERAGE_PRECISION_RULES, StatisticsTable, TaskDefinition
from vocboard.evaluator.tasks.names import Metric, Task


class Detection(TaskDefinition):
    """Detection."""

    task = Task.DETECTION
    title = short_title = "Detection"
    results_noun = "detections"
    metrics = (Metric.AVERAGE_PRECISION, Metric.AVERAGE_PRECISION_AREA, Metric.AVERAGE_PRECISION_WITH_DIFFICULT)
    only_secondary = (Metric.AVERAGE_PRECISION_75, Metric.AVERAGE_PRECISION_50_95)
    own_metrics = MappingProxyType(
        {
            Metric.AVERAGE_PRECISION_75: MetricDefinition(
                "Average precision, overlap 0.75", "AP 0.75", is_average_precision=True
            ),
            Metric.AVERAGE_PRECISION_50_95: MetricDefinition(
                "Average precision, mean over overlaps of 0.5 to 0.95", "AP 0.5-0.95", is_average_precision=True
            ),
        }
    )
    possible_fields = frozenset({"class"})
    statistics = StatisticsTable("classification and detection")
    new_edition_rules = (
        'file = "Main/{competition}_det_{image_set}_{class}.txt"\n'
        + AVERAGE_PRECISION_RULES
        + '\nsecondary = ["average_precision_with_difficult"]'
    )

    def content(self, rules: TaskRules) -> str:
        """Return the line of a result file."""
        line = "<image> <confidence> <left> <top> <right> <bottom>"
        return f"{line} <class>" if rules.class_in_lines else line
