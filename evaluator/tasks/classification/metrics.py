"""How each metric of classification, of images or of actions, is computed."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.image_shares import ImageShares
from vocboard.evaluator.evidence.ranked_evidence import LabelledItems
from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.evidence.roc import ResampledRoc
from vocboard.evaluator.metrics.forced_choice import forced_choices
from vocboard.evaluator.names import Metric
from vocboard.evaluator.tasks.classification.truth import LabelTruth
from vocboard.evaluator.tasks.ranked_classes import (
    ClassMetric,
    RankedClass,
    average_precision,
    average_precision_area,
    average_precision_with_difficult,
    best_f1_by_confidence,
    calibration_error,
)
from vocboard.evaluator.tasks.ranked_scorer import EntryMetric, EntryValues, ScoredEntry


def of_roc(ranked: RankedClass[LabelledItems]) -> Resampled:
    """Return the area under the ROC curve, or the accuracy at the equal error rate."""
    return ResampledRoc(ranked.results.items(), ranked.results.image, ranked.metric, ranked.rules.roc)


def forced_choice(scored: ScoredEntry[LabelTruth]) -> EntryValues:
    """Return the accuracy of a forced choice; see `forced_choices`.

    Items that are not in the image set of a class have no confidence for it, and do not show it.
    """
    entry, truth = scored.entry, scored.truth
    names = entry.competition.classes
    items = 1 + max((int(truth.labels[name].item.max(initial=-1)) for name in names), default=-1)
    label = np.full((len(names), items), -1, dtype=np.int8)
    confidence = np.full((len(entry.classes), items), -np.inf)
    for row, name in enumerate(names):
        label[row, truth.labels[name].item] = truth.labels[name].label
    for row, name in enumerate(entry.classes):
        confidence[row, truth.labels[name].item] = truth.labels[name].confidence(entry.content[name])
    entered = np.array([names.index(name) for name in entry.classes], dtype=np.int64)
    chosen, counted = forced_choices(confidence, label, entered)
    people, images = scored.images.persons, len(scored.images.images)
    image = np.arange(items) if people is None else people[:items, 0]
    shares: dict[str, ImageShares] = {}
    for row, name in enumerate(entry.classes):
        own = counted[row]
        right: NDArray[np.float64] = np.bincount(image[own], chosen[row, own], images)  # type: ignore[assignment]  # stubs ignore weights
        shares[name] = ImageShares(right, np.bincount(image[own], minlength=images).astype(np.float64))
    return EntryValues(shares)


BY_CLASS: Mapping[Metric, ClassMetric] = {
    Metric.AVERAGE_PRECISION: average_precision,
    Metric.AVERAGE_PRECISION_AREA: average_precision_area,
    Metric.AVERAGE_PRECISION_WITH_DIFFICULT: average_precision_with_difficult,
    Metric.ROC_AUC: of_roc,
    Metric.EQUAL_ERROR_RATE: of_roc,
    Metric.BEST_F1: best_f1_by_confidence,
    Metric.CALIBRATION_ERROR: calibration_error,
}
BY_ENTRY: Mapping[Metric, EntryMetric] = {Metric.FORCED_CHOICE_ACCURACY: forced_choice}
