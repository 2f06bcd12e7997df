"""Descriptions of metrics for pages and documents; definitions of metrics that several tasks share."""

from collections.abc import Mapping
from dataclasses import dataclass

from vocboard.evaluator.names import CurveKind, Metric
from vocboard.evaluator.rules import LayoutProtocol


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """A metric's names for people, and which way is better.

    Attributes:
        title: for headings and sentences.
        short_title: for the heads of columns.
        higher_is_better: False for errors and losses; leaderboards rank by it.
        uses_interpolation: whether it is computed from a precision/recall curve by the edition's interpolation,
            which descriptions of scores then mention, and which edition files then have to give. False for average
            precisions that fix the interpolation themselves.
        curve: the curve that is plotted where it is the primary metric of a task that has curves.
        description: what it measures, in a sentence for documents; empty for those that the VOC documents define, and
            those of some objects, which have a table of their own.
        undefined: when it is n/a, in a sentence; None if that depends on the edition's rules.
        overlap: the overlap that it requires; None for the edition's. Only for tasks whose evidence depends on overlaps
            (`ClassEvidence.depends_on_overlap`): computing it from another is an error.
        protocols: the layout protocols whose competitions can have it as a secondary metric; None for all.
        has_intervals: whether it is computed for selections of the test images, too (docs/statistics.md).
        needs_public_ground_truth: whether it is shown only where the ground truth is public, because results can be
            chosen so that its value tells which of them are right.
    """

    title: str
    short_title: str
    higher_is_better: bool = True
    uses_interpolation: bool = False
    curve: CurveKind = CurveKind.PRECISION_RECALL
    description: str = ""
    undefined: str | None = None
    overlap: float | None = None
    protocols: frozenset[LayoutProtocol] | None = None
    has_intervals: bool = True
    needs_public_ground_truth: bool = False


_LEFT_OUT = "is n/a and left out of the mean."

SHARED_METRICS: Mapping[Metric, MetricDefinition] = {
    Metric.AVERAGE_PRECISION: MetricDefinition("Average precision", "AP", uses_interpolation=True),
    Metric.ROC_AUC: MetricDefinition("Area under the ROC curve", "AUC", curve=CurveKind.ROC),
    Metric.EQUAL_ERROR_RATE: MetricDefinition("Accuracy at the equal error rate", "EER", curve=CurveKind.ROC),
    Metric.AVERAGE_PRECISION_AREA: MetricDefinition("Average precision, area under the curve", "AP (area)"),
    Metric.AVERAGE_PRECISION_WITH_DIFFICULT: MetricDefinition(
        "Average precision, difficult objects included", "AP with difficult", uses_interpolation=True
    ),
    Metric.BEST_F1: MetricDefinition(
        "Best F1",
        "best F1",
        description="The highest harmonic mean of precision and recall, over all thresholds of confidence; for "
        "layouts, over all ranks (the F-measure of VOC2010's kit).",
        undefined=f"A class without positives {_LEFT_OUT}",
    ),
    Metric.CALIBRATION_ERROR: MetricDefinition(
        "Expected calibration error",
        "ECE",
        higher_is_better=False,
        description="How far confidences are from the share of results that are right: the mean absolute difference in "
        "ten bins of confidence, weighted by their results. For confidences from 0 to 1.",
        undefined=f"A class without results, or with a confidence that is missing or not from 0 to 1, {_LEFT_OUT}",
        has_intervals=False,
        needs_public_ground_truth=True,
    ),
    Metric.FORCED_CHOICE_ACCURACY: MetricDefinition(
        "Accuracy of a forced choice",
        "forced choice",
        description="The share of the images (or people) of a class, and of no other, for which the class has the "
        "highest confidence of all classes entered; of equal confidences, each is chosen by an equal share.",
        undefined=f"A class that is nowhere the only one {_LEFT_OUT}",
    ),
}


def shared(*metrics: Metric) -> dict[Metric, MetricDefinition]:
    """Return the definitions of metrics that several tasks have."""
    return {metric: SHARED_METRICS[metric] for metric in metrics}
