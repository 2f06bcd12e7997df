"""What a metric is to pages and documents, and the definitions of those that several tasks have."""

from dataclasses import dataclass
from enum import StrEnum

from vocboard.evaluator.tasks.names import Metric


class CurveKind(StrEnum):
    """Kind of a curve; values are used in JSON and in the database."""

    PRECISION_RECALL = "precision_recall"
    ROC = "roc"


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """A metric's names for people, and which way is better.

    Attributes:
        title: for headings and sentences.
        short_title: for the heads of columns.
        higher_is_better: False for errors and losses; leaderboards rank by it.
        is_average_precision: whether it is computed from a precision/recall curve by the edition's interpolation,
            which descriptions of scores then mention, and which edition files then have to give. False for metrics that
            fix the interpolation themselves.
        curve: the curve that is plotted where it is the primary metric of a task that has curves.
    """

    title: str
    short_title: str
    higher_is_better: bool = True
    is_average_precision: bool = False
    curve: CurveKind = CurveKind.PRECISION_RECALL


SHARED_METRICS: dict[Metric, MetricDefinition] = {
    Metric.AVERAGE_PRECISION: MetricDefinition("Average precision", "AP", is_average_precision=True),
    Metric.ROC_AUC: MetricDefinition("Area under the ROC curve", "AUC", curve=CurveKind.ROC),
    Metric.EQUAL_ERROR_RATE: MetricDefinition("Accuracy at the equal error rate", "EER", curve=CurveKind.ROC),
    Metric.AVERAGE_PRECISION_AREA: MetricDefinition("Average precision, area under the curve", "AP (area)"),
    Metric.AVERAGE_PRECISION_WITH_DIFFICULT: MetricDefinition(
        "Average precision, difficult objects included", "AP with difficult", is_average_precision=True
    ),
}
