"""What a metric is to pages and documents, and the definitions of those that several tasks have."""

from dataclasses import dataclass

from vocboard.evaluator.tasks.names import Metric


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """A metric's names for people, and which way is better.

    Attributes:
        title: for headings and sentences.
        short_title: for the heads of columns.
        higher_is_better: False for errors and losses; leaderboards rank by it.
        is_average_precision: whether it is computed from a precision/recall curve by the edition's interpolation,
            which descriptions of scores then mention.
    """

    title: str
    short_title: str
    higher_is_better: bool = True
    is_average_precision: bool = False


SHARED_METRICS: dict[Metric, MetricDefinition] = {
    Metric.AVERAGE_PRECISION: MetricDefinition("Average precision", "AP", is_average_precision=True),
    Metric.ROC_AUC: MetricDefinition("Area under the ROC curve", "AUC"),
    Metric.EQUAL_ERROR_RATE: MetricDefinition("Accuracy at the equal error rate", "EER"),
    Metric.AVERAGE_PRECISION_AREA: MetricDefinition(
        "Average precision, area under the curve", "AP (area)", is_average_precision=True
    ),
    Metric.AVERAGE_PRECISION_WITH_DIFFICULT: MetricDefinition(
        "Average precision, difficult objects included", "AP with difficult", is_average_precision=True
    ),
}
