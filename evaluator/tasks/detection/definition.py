"""Definition of detection."""

from types import MappingProxyType

from vocboard.evaluator.metrics.shared_metrics import MetricDefinition, shared
from vocboard.evaluator.names import Metric, Task
from vocboard.evaluator.rules import TaskRules
from vocboard.evaluator.tasks.definition import AVERAGE_PRECISION_RULES, StatisticsTable, TaskDefinition
from vocboard.evaluator.tasks.detection.subsets import SUBSETS

_WITHOUT_OBJECTS = "A class without objects that count is n/a and left out of the mean."


def _recall(kept: str) -> MetricDefinition:
    number = next((word for word in kept.split() if word.isdecimal()), "1")
    return MetricDefinition(
        f"Recall of {kept} of each image",
        f"recall, {number} per image",
        description=f"The share of the objects of a class that are found by {kept} of the class in each image.",
        undefined=_WITHOUT_OBJECTS,
    )


class Detection(TaskDefinition):
    """Detection."""

    task = Task.DETECTION
    title = short_title = "Detection"
    results_noun = "detections"
    metrics = MappingProxyType(
        shared(Metric.AVERAGE_PRECISION, Metric.AVERAGE_PRECISION_AREA, Metric.AVERAGE_PRECISION_WITH_DIFFICULT)
    )
    only_secondary = MappingProxyType(
        {
            Metric.AVERAGE_PRECISION_75: MetricDefinition(
                "Average precision, overlap 0.75",
                "AP 0.75",
                uses_interpolation=True,
                overlap=0.75,
                description="Average precision if an overlap of three quarters is required. Matching and interpolation "
                "are the edition's; COCO's tools let a detection fall back to another object, and interpolate at 101 "
                "recalls.",
            ),
            Metric.AVERAGE_PRECISION_50_95: MetricDefinition(
                "Average precision, mean over overlaps of 0.5 to 0.95",
                "AP 0.5-0.95",
                uses_interpolation=True,
                description="The mean of the average precision at overlaps of 0.5, 0.55 ... 0.95, by the same rules.",
            ),
            Metric.NORMALISED_AVERAGE_PRECISION: MetricDefinition(
                "Normalised average precision",
                "AP_N",
                description="The area under the curve if every class had as many objects as 15 % of the number of "
                "images, because precision is higher for frequent classes (Hoiem et al. 2012).",
                undefined=_WITHOUT_OBJECTS,
            ),
            **shared(Metric.BEST_F1),
            Metric.RECALL_1_PER_IMAGE: _recall("the most confident detection"),
            Metric.RECALL_10_PER_IMAGE: _recall("the 10 most confident detections"),
            Metric.RECALL_100_PER_IMAGE: _recall("the 100 most confident detections"),
            **shared(Metric.CALIBRATION_ERROR),
            **{metric: subset.definition() for metric, subset in SUBSETS.items()},
        }
    )
    icon = '<path d="M3 5h13v10H3z"/><path d="M11 10h10v9H11z"/>'
    possible_fields = frozenset({"class"})
    statistics = StatisticsTable("classification and detection", counts_truncated=True)
    new_edition_rules = (
        'file = "Main/{competition}_det_{image_set}_{class}.txt"\n'
        + AVERAGE_PRECISION_RULES
        + '\nsecondary = ["average_precision_with_difficult"]'
    )

    def content(self, rules: TaskRules) -> str:
        """Return the line of a result file."""
        line = "<image> <confidence> <left> <top> <right> <bottom>"
        return f"{line} <class>" if rules.class_in_lines else line
