"""The definition of the task: names, files, and metrics for people."""

from types import MappingProxyType

from vocboard.evaluator.metrics.shared_metrics import MetricDefinition
from vocboard.evaluator.names import Metric, Task
from vocboard.evaluator.rules import TaskRules
from vocboard.evaluator.tasks.definition import StatisticsTable, TaskDefinition

POINTS = 17  # COCO's, from the nose to the right ankle
_UNDEFINED = "A class without people that count is n/a and left out of the mean."


def _at(threshold: float) -> MetricDefinition:
    return MetricDefinition(
        f"Average precision of keypoints, similarity {threshold:g}",
        f"AP {threshold:g}",
        overlap=threshold,
        description=f"COCO's average precision if a similarity of {threshold:g} is required.",
        undefined=_UNDEFINED,
    )


class Keypoints(TaskDefinition):
    """Keypoints."""

    task = Task("keypoints")
    title = short_title = "Keypoints"
    folder = "Keypoints"
    tree_folders = ("Keypoints",)
    results_noun = "people"
    metrics = MappingProxyType(
        {
            Metric("keypoint_average_precision"): MetricDefinition(
                "Average precision of keypoints",
                "AP",
                description="COCO's average precision: the mean over object keypoint similarities of 0.5 to 0.95.",
                undefined=_UNDEFINED,
            ),
            Metric("keypoint_average_precision_50"): _at(0.5),
            Metric("keypoint_average_precision_75"): _at(0.75),
        }
    )
    needed_fields = frozenset({"class"})
    statistics = StatisticsTable("keypoints", objects="people")
    new_edition_rules = (
        'file = "Keypoints/{competition}_kpt_{image_set}_{class}.txt"\nmetric = "keypoint_average_precision"'
    )

    def content(self, rules: TaskRules) -> str:
        """Return the line of a result file."""
        return f"<image> <confidence> <x> <y> ... <x> <y>, with {POINTS} points"
