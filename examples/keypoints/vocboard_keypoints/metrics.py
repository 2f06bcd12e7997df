"""Average precision as COCO computes it: precision at 101 recalls.

Source: pycocotools, cocoeval.py, `accumulate` and `summarize`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.evidence import Judged
from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.evidence.weights import Weights
from vocboard.evaluator.names import Metric
from vocboard.evaluator.rules import Overlap
from vocboard.evaluator.tasks.ranked_classes import ClassMetric, RankedClass
from vocboard_keypoints.evidence import ComparedPeople

SIMILARITIES = np.linspace(0.5, 0.95, 10).tolist()
RECALLS = np.linspace(0.0, 1.00, 101)


@dataclass(frozen=True, eq=False, slots=True)
class CocoAveragePrecision(Resampled):
    """The mean precision over 101 recalls, and over the similarities that results were judged by."""

    judged: tuple[Judged, ...]

    @property
    def takes_maximum(self) -> bool:
        """See `Resampled`."""
        return True

    def score(self) -> float:
        """Return the average precision; NaN without people that count."""
        return self._of(None)

    def replicates(self, weights: Weights) -> NDArray[np.float64]:
        """Return the average precision of each selection."""
        return np.array([self._of(weights[:, column]) for column in range(weights.shape[1])], dtype=np.float64)

    def _of(self, weight: NDArray[np.integer] | None) -> float:
        precisions = [_precisions(each, weight) for each in self.judged]
        return float(np.mean(np.concatenate(precisions)))


def _precisions(judged: Judged, weight: NDArray[np.integer] | None) -> NDArray[np.float64]:
    """Return (101,) precisions, of the test images or of each as often as its weight says; NaN without people."""
    true, false, positives = judged.judgement.true, judged.judgement.false, float(judged.judgement.positives)
    counts = np.ones(len(true)) if weight is None else weight[judged.image].astype(np.float64)
    if weight is not None:
        positives = float(weight[judged.positive_image].sum())
    found = np.zeros(len(RECALLS))
    if not positives:
        return found + np.nan
    true_sum, false_sum = np.cumsum(true * counts), np.cumsum(false * counts)
    precision = true_sum / (false_sum + true_sum + np.spacing(1))
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    place = np.searchsorted(true_sum / positives, RECALLS, side="left")
    reached = place < len(precision)
    found[reached] = precision[place[reached]]
    return found


def at_own_similarity(ranked: RankedClass[ComparedPeople]) -> Resampled:
    """Return the average precision at the similarity that the metric's definition has."""
    return CocoAveragePrecision((ranked.judged(),))


def over_similarities(ranked: RankedClass[ComparedPeople]) -> Resampled:
    """Return the mean over similarities of 0.5, 0.55 ... 0.95."""
    return CocoAveragePrecision(tuple(ranked.judged(Overlap(each)) for each in SIMILARITIES))


BY_CLASS: Mapping[Metric, ClassMetric] = {
    Metric("keypoint_average_precision"): over_similarities,
    Metric("keypoint_average_precision_50"): at_own_similarity,
    Metric("keypoint_average_precision_75"): at_own_similarity,
}
