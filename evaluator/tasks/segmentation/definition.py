"""Definition of segmentation."""

from types import MappingProxyType

from vocboard.evaluator.metrics.definitions import MetricDefinition
from vocboard.evaluator.rules import TaskRules, WithoutPositives
from vocboard.evaluator.tasks.definition import UNDEFINED, ZERO, StatisticsTable, TaskDefinition
from vocboard.evaluator.tasks.names import Metric, Task


class Segmentation(TaskDefinition):
    """Segmentation."""

    task = Task.SEGMENTATION
    title = short_title = "Segmentation"
    folder = "Segmentation"
    tree_folders = ("SegmentationClass",)
    results_noun = "label maps"
    metrics = (Metric.INTERSECTION_OVER_UNION, Metric.PIXEL_ACCURACY)
    own_metrics = MappingProxyType(
        {
            Metric.INTERSECTION_OVER_UNION: MetricDefinition("Intersection over union", "IoU"),
            Metric.PIXEL_ACCURACY: MetricDefinition("Pixel accuracy", "pixel accuracy"),
        }
    )
    needed_fields = frozenset({"image"})
    content_is_lines = False
    size_file = "SegmentationClass/{}.png"
    has_file_per_image = True
    has_background = True
    has_curves = False
    needs_declared_classes = True
    statistics = StatisticsTable("segmentation", objects=None)
    new_edition_rules = (
        'file = "Segmentation/{competition}_{image_set}_cls/{image}.png"\nmetric = "intersection_over_union"'
    )

    def content(self, rules: TaskRules) -> str:
        """Describe the content of a label map."""
        return "8-bit indexed PNG of the image's size: 0 background, 1 to the number of classes"

    def score(self, rules: TaskRules) -> str:
        """Describe how a competition's score is computed."""
        return f"{self.metric(rules.metric).title} of each class and background; the mean is over all labels"

    def without_positives(self, rules: TaskRules, metric: Metric | None = None) -> str:
        """Describe the score of a class without true pixels."""
        if (metric or rules.metric) is Metric.INTERSECTION_OVER_UNION:
            return f"A class in neither the ground truth nor the result {UNDEFINED}."
        zero = rules.without_positives is WithoutPositives.ZERO
        return f"A class without true pixels {ZERO if zero else UNDEFINED}."

    def classes_not_entered(self) -> str:
        """Describe how classes that were not entered count."""
        return (
            "Only background and the classes declared as entered are scored, but the pixels of the other classes still "
            "count: labelling one as background or as a class entered is an error of that label, and so is labelling "
            "a pixel of a class entered as a class that is not."
        )
