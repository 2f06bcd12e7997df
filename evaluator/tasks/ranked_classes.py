"""Scores of tasks with a ranked list per class: classification, detection, action, layout by part."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import Competition, Interpolation, Metric, TaskRules
from vocboard.evaluator.metrics.best_f1 import best_f1
from vocboard.evaluator.metrics.calibration import calibration
from vocboard.evaluator.metrics.definitions import CurveKind
from vocboard.evaluator.metrics.matches import OVERLAPS
from vocboard.evaluator.metrics.normalised_precision import NORMAL_SHARE, normalised_average_precision
from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.metrics.recall_per_image import RESULTS_PER_IMAGE, place_in_image, recall_of_first
from vocboard.evaluator.metrics.roc import RankedItems, area_under_curve, equal_error_accuracy
from vocboard.evaluator.scores import AnyCurve, CompetitionScores, Measure
from vocboard.evaluator.tasks.definitions import METRICS


@dataclass(frozen=True, eq=False, slots=True)
class RankedClass:
    """One class's classified results.

    Attributes:
        results: number of results.
        difficult: number of results that were ignored because they match difficult objects.
        with_difficult: classifies again with difficult objects as positives; None for tasks without them.
        at_overlap: classifies again with another required overlap; None for tasks without overlaps.
        items: returns the ranked items, for a receiver operating characteristic; None if negatives cannot be counted.
        confidence: returns the confidences, by rank; None if every rank is a threshold of its own.
        image: (n,) index of each result's image, by rank; None for tasks whose results are not counted by image.
        images: number of test images; None for the same tasks.
    """

    judgement: Judgement
    results: int
    difficult: int = 0
    with_difficult: Callable[[], Judgement] | None = None
    at_overlap: Callable[[float], Judgement] | None = None
    items: Callable[[], RankedItems] | None = None
    confidence: Callable[[], NDArray[np.float64]] | None = None
    image: NDArray[np.int32] | None = None
    images: int | None = None


def score(
    competition: Competition, classes: Mapping[str, RankedClass], others: tuple[Measure, ...] = ()
) -> CompetitionScores:
    """Return the metrics of the competition's rules for the classes entered.

    Args:
        competition: its rules define the metrics and the interpolation.
        classes: by name, in the edition's order.
        others: secondary metrics that are not computed from the ranked lists.
    """
    rules = competition.rules

    def measure(metric: Metric) -> Measure:
        return Measure(metric, {name: _value(metric, ranked, rules) for name, ranked in classes.items()})

    taken = {other.metric: other for other in others}
    return CompetitionScores(
        competition=competition.key,
        task=competition.task,
        primary=measure(rules.metric),
        secondary=tuple(taken.get(metric) or measure(metric) for metric in rules.secondary),
        details={
            name: ranked.judgement.details(results=ranked.results, difficult=ranked.difficult)
            for name, ranked in classes.items()
        },
        curves={name: _curve(rules, ranked) for name, ranked in classes.items()},
        not_entered=tuple(name for name in competition.classes if name not in classes),
    )


def _curve(rules: TaskRules, ranked: RankedClass) -> AnyCurve:
    """Return the curve of the primary metric."""
    if METRICS[rules.metric].curve is CurveKind.ROC and ranked.items is not None:
        return ranked.items().curve(rules.roc)
    return ranked.judgement.curve()


def _value(metric: Metric, ranked: RankedClass, rules: TaskRules) -> float:
    match metric:
        case Metric.AVERAGE_PRECISION:
            return ranked.judgement.average_precision(rules.interpolation, rules.without_positives)
        case Metric.AVERAGE_PRECISION_AREA:
            return ranked.judgement.average_precision(Interpolation.AREA)
        case Metric.AVERAGE_PRECISION_WITH_DIFFICULT if ranked.with_difficult is not None:
            return ranked.with_difficult().average_precision(rules.interpolation, rules.without_positives)
        case Metric.AVERAGE_PRECISION_75 | Metric.AVERAGE_PRECISION_50_95 if ranked.at_overlap is not None:
            overlaps = (0.75,) if metric is Metric.AVERAGE_PRECISION_75 else OVERLAPS
            judged = (ranked.at_overlap(overlap) for overlap in overlaps)
            scores = [each.average_precision(rules.interpolation, rules.without_positives) for each in judged]
            return float(np.mean(scores))
        case Metric.NORMALISED_AVERAGE_PRECISION if ranked.images is not None:
            positives, normal = ranked.judgement.positives, NORMAL_SHARE * ranked.images
            return normalised_average_precision(ranked.judgement, positives, normal)
    return _other_value(metric, ranked, rules)


def _other_value(metric: Metric, ranked: RankedClass, rules: TaskRules) -> float:
    """Return a metric that is no average precision."""
    match metric:
        case Metric.ROC_AUC if ranked.items is not None:
            return area_under_curve(ranked.items().curve(rules.roc))
        case Metric.EQUAL_ERROR_RATE if ranked.items is not None:
            return equal_error_accuracy(ranked.items().curve(rules.roc))
        case Metric.RECALL_1_PER_IMAGE | Metric.RECALL_10_PER_IMAGE | Metric.RECALL_100_PER_IMAGE if (
            ranked.image is not None
        ):
            return recall_of_first(ranked.judgement, place_in_image(ranked.image), RESULTS_PER_IMAGE[metric])
        case Metric.BEST_F1:
            return _best_f1(ranked)
        case Metric.CALIBRATION_ERROR if ranked.confidence is not None:
            calibrated = calibration(ranked.judgement, ranked.confidence())
            return float("nan") if calibrated is None else calibrated.error
    raise ValueError(f"{metric} is not defined for this task")


def _best_f1(ranked: RankedClass) -> float:
    """Return the best F1 score: NaN without positives, 0 if nothing was found."""
    best = best_f1(ranked.judgement, None if ranked.confidence is None else ranked.confidence())
    if best is None:
        return 0.0 if ranked.judgement.positives else float("nan")
    return best.f1
