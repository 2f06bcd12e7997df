"""How each metric of instance segmentation is computed from the ranked regions of a class."""

from collections.abc import Mapping

from vocboard.evaluator.names import Metric
from vocboard.evaluator.tasks.ranked_classes import ClassMetric, average_precision

BY_CLASS: Mapping[Metric, ClassMetric] = {
    Metric.REGION_AVERAGE_PRECISION_50: average_precision,
    Metric.REGION_AVERAGE_PRECISION_70: average_precision,
}
