"""Definition of classification."""

from types import MappingProxyType

from vocboard.evaluator.metrics.shared_metrics import shared
from vocboard.evaluator.names import Metric, Task
from vocboard.evaluator.rules import TaskRules
from vocboard.evaluator.tasks.definition import AVERAGE_PRECISION_RULES, TaskDefinition

METRICS_OF_LABELS = MappingProxyType(
    shared(
        Metric.AVERAGE_PRECISION,
        Metric.AVERAGE_PRECISION_AREA,
        Metric.AVERAGE_PRECISION_WITH_DIFFICULT,
        Metric.ROC_AUC,
        Metric.EQUAL_ERROR_RATE,
    )
)
ONLY_SECONDARY_OF_LABELS = MappingProxyType(
    shared(Metric.BEST_F1, Metric.CALIBRATION_ERROR, Metric.FORCED_CHOICE_ACCURACY)
)


class Classification(TaskDefinition):
    """Classification."""

    task = Task.CLASSIFICATION
    title = short_title = "Classification"
    metrics = METRICS_OF_LABELS
    only_secondary = ONLY_SECONDARY_OF_LABELS
    needed_fields = frozenset({"class"})
    icon = '<path d="M4 5h8l8 8-7 7-9-9z"/><circle cx="8.5" cy="9.5" r="1.3"/>'
    has_class_lists = True
    statistics = None  # detection's table counts the images, too
    new_edition_rules = 'file = "Main/{competition}_cls_{image_set}_{class}.txt"\n' + AVERAGE_PRECISION_RULES

    def content(self, rules: TaskRules) -> str:
        """Return the line of a result file."""
        return "<image> <confidence>"
