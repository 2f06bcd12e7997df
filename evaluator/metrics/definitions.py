"""Every metric's name for people, and which way is better."""

from collections.abc import Mapping
from dataclasses import dataclass

from vocboard.evaluator.rules import Metric


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """What pages and documents need to know of a metric.

    Attributes:
        title: for headings and sentences.
        short_title: for the heads of columns.
        higher_is_better: False for errors and losses.
    """

    title: str
    short_title: str
    higher_is_better: bool = True


METRICS: Mapping[Metric, MetricDefinition] = {
    Metric.AVERAGE_PRECISION: MetricDefinition("Average precision", "AP"),
    Metric.INTERSECTION_OVER_UNION: MetricDefinition("Intersection over union", "IoU"),
    Metric.PIXEL_ACCURACY: MetricDefinition("Pixel accuracy", "pixel accuracy"),
    Metric.REGION_AVERAGE_PRECISION_50: MetricDefinition("Average precision of regions, overlap 0.5", "AP^r 0.5"),
    Metric.REGION_AVERAGE_PRECISION_70: MetricDefinition("Average precision of regions, overlap 0.7", "AP^r 0.7"),
    Metric.ROC_AUC: MetricDefinition("Area under the ROC curve", "AUC"),
    Metric.EQUAL_ERROR_RATE: MetricDefinition("Accuracy at the equal error rate", "EER"),
    Metric.AVERAGE_PRECISION_AREA: MetricDefinition("Average precision, area under the curve", "AP (area)"),
    Metric.AVERAGE_PRECISION_WITH_DIFFICULT: MetricDefinition(
        "Average precision, difficult objects included", "AP with difficult"
    ),
    Metric.AVERAGE_PRECISION_BY_CONFIDENCE: MetricDefinition(
        "Average precision, ranked by confidence", "AP by confidence"
    ),
    Metric.WHOLE_PERSON_AVERAGE_PRECISION: MetricDefinition("Average precision of whole people", "AP, whole person"),
}
