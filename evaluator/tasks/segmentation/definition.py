"""Definition of segmentation."""

from types import MappingProxyType

from vocboard.evaluator.metrics.shared_metrics import MetricDefinition
from vocboard.evaluator.names import Metric, Task
from vocboard.evaluator.rules import TaskRules, WithoutPositives
from vocboard.evaluator.tasks.definition import UNDEFINED, ZERO, StatisticsTable, TaskDefinition

ALL_LABELS = "all labels"  # stands for a class in metrics that are one number for all of them
_WITHOUT_PIXELS = "Without true pixels it is n/a."
_IN_NEITHER = f"A class in neither the ground truth nor the result {UNDEFINED}."


class Segmentation(TaskDefinition):
    """Segmentation."""

    task = Task.SEGMENTATION
    title = short_title = "Segmentation"
    folder = "Segmentation"
    tree_folders = ("SegmentationClass",)
    results_noun = "label maps"
    metrics = MappingProxyType(
        {
            Metric.INTERSECTION_OVER_UNION: MetricDefinition("Intersection over union", "IoU", undefined=_IN_NEITHER),
            Metric.PIXEL_ACCURACY: MetricDefinition("Pixel accuracy", "pixel accuracy"),
        }
    )
    only_secondary = MappingProxyType(
        {
            Metric.OVERALL_PIXEL_ACCURACY: MetricDefinition(
                "Share of all pixels that are right",
                "all pixels",
                description="The share of all pixels, without void, that have the right label.",
                undefined=_WITHOUT_PIXELS,
            ),
            Metric.FREQUENCY_WEIGHTED_IOU: MetricDefinition(
                "Intersection over union, weighted by frequency",
                "weighted IoU",
                description="The mean of the intersection over union of all labels, each weighted by its share of the "
                "true pixels (Long et al. 2015).",
                undefined=_WITHOUT_PIXELS,
            ),
            Metric.BOUNDARY_IOU: MetricDefinition(
                "Boundary intersection over union",
                "boundary IoU",
                description="The intersection over union of the pixels of a label within 2 % of the image's diagonal "
                "of its boundary (Cheng et al. 2021), summed over all images. Void is cut out of the result, too.",
                undefined=_IN_NEITHER,
            ),
            Metric.TRIMAP_ACCURACY: MetricDefinition(
                "Share of pixels near boundaries that are right",
                "trimap",
                description="The share of the pixels within 8 pixels of a true boundary, or of void, that have the "
                "right label (Kohli et al. 2009).",
                undefined="Without boundaries it is n/a.",
            ),
        }
    )
    icon = '<path d="M4 14c0-6 5-10 9-9s2 4 5 5 3 9-4 9-10 0-10-5z" fill="currentColor" fill-opacity=".3"/>'
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
        metric = metric or rules.metric
        if (undefined := self.metric(metric).undefined) is not None:
            return undefined
        zero = rules.without_positives is WithoutPositives.ZERO
        return f"A class without true pixels {ZERO if zero else UNDEFINED}."

    def classes_not_entered(self) -> str:
        """Describe how classes that were not entered count."""
        return (
            "Only background and the classes declared as entered are scored, but the pixels of the other classes still "
            "count: labelling one as background or as a class entered is an error of that label, and so is labelling "
            "a pixel of a class entered as a class that is not."
        )
