"""Metrics of ranked results, computed for one class: those that several tasks have.

The `metrics.py` of a task says which function computes each of its metrics, and has the functions that only it needs;
`definition.py` beside it lists the metrics. Such a function gets a `RankedClass`. It returns either a `Resampled`,
which has the score on the test images and on any selection of them, or a number, if the metric has no intervals.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.average_precision import ResampledAveragePrecision
from vocboard.evaluator.evidence.best_f1 import ResampledBestF1
from vocboard.evaluator.evidence.evidence import ClassEvidence, Judged
from vocboard.evaluator.evidence.ranked_evidence import LabelledItems, MatchedResults
from vocboard.evaluator.evidence.resampled import Resampled, ResampledMean
from vocboard.evaluator.metrics.calibration import calibration
from vocboard.evaluator.metrics.matches import OVERLAPS
from vocboard.evaluator.names import Metric
from vocboard.evaluator.rules import Competition, Edition, Interpolation, Overlap, TaskRules, WithoutPositives
from vocboard.evaluator.tasks.definitions import METRICS, overlap_of

SomeClass = TypeVar("SomeClass", bound=ClassEvidence)


@dataclass(frozen=True, eq=False, slots=True)
class RankedClass(Generic[SomeClass]):
    """One class's results by rank, with the rules that apply.

    Attributes:
        metric: what is computed.
        results: of the class.
        edition: the edition.
        competition: the competition.
        images: number of test images.
    """

    metric: Metric
    results: SomeClass
    edition: Edition
    competition: Competition
    images: int
    _judged: dict[tuple[Overlap, bool], Judged] = field(default_factory=dict, repr=False)

    def of(self, metric: Metric) -> "RankedClass[SomeClass]":
        """Return the same results for another metric. What is judged equally is judged once."""
        return RankedClass(metric, self.results, self.edition, self.competition, self.images, self._judged)

    @property
    def rules(self) -> TaskRules:
        """The rules of the competition."""
        return self.competition.rules

    def judged(self, overlap: Overlap | None = None, *, with_difficult: bool = False) -> Judged:
        """Tell which results are right; see `ClassEvidence.judged`.

        Args:
            overlap: the overlap that a result needs. Default: that of the metric, or the edition's if it has none.
            with_difficult: whether to treat difficult objects as ordinary ones.

        Raises:
            ValueError: an overlap is given, or the metric has one, but the evidence of the task does not depend on it:
                the score would be that at the edition's overlap.
        """
        chosen = METRICS[self.metric].overlap if overlap is None else overlap.threshold
        if chosen is not None and not self.results.depends_on_overlap:
            kind = type(self.results).__name__
            raise ValueError(f"{self.metric} cannot require an overlap of {chosen:g}: {kind} do not depend on overlaps")
        rule = overlap or overlap_of(self.metric, self.edition)
        known = self._judged.get((rule, with_difficult))
        if known is None:
            known = self.results.judged(rule, self.rules, with_difficult=with_difficult)
            self._judged[rule, with_difficult] = known
        return known


ClassMetric = Callable[[RankedClass[Any]], Resampled | float]


def average_precision(ranked: RankedClass[Any]) -> Resampled:
    """Return the average precision by the rules of the competition."""
    return by_rules(ranked, ranked.judged())


def average_precision_with_difficult(ranked: RankedClass[Any]) -> Resampled:
    """Return the average precision by the rules of the competition, with difficult objects as positives."""
    return by_rules(ranked, ranked.judged(with_difficult=True))


def average_precision_area(ranked: RankedClass[Any]) -> Resampled:
    """Return the average precision as VOC2010 defines it, in all editions."""
    return _average_precision(ranked.judged(), Interpolation.AREA, WithoutPositives.UNDEFINED)


def mean_over_overlaps(ranked: RankedClass[MatchedResults]) -> Resampled:
    """Return the mean of the average precision at overlaps of 0.5, 0.55 ... 0.95."""
    rules = [replace(ranked.edition.overlap, threshold=overlap) for overlap in OVERLAPS]
    return ResampledMean(tuple(by_rules(ranked, ranked.judged(rule)) for rule in rules))


def by_rules(ranked: RankedClass[Any], judged: Judged) -> Resampled:
    """Return the average precision of judged results, with the interpolation of the competition's rules."""
    return _average_precision(judged, ranked.rules.interpolation, ranked.rules.without_positives)


def _average_precision(judged: Judged, interpolation: Interpolation, undefined: WithoutPositives) -> Resampled:
    return ResampledAveragePrecision(judged.judgement, judged.image, judged.positive_image, interpolation, undefined)


def best_f1_by_confidence(ranked: RankedClass[MatchedResults] | RankedClass[LabelledItems]) -> Resampled:
    """Return the best F1 of all thresholds of confidence: NaN without positives, 0 if nothing was found."""
    return _best_f1(ranked.judged(), ranked.results.confidence)


def best_f1_by_rank(ranked: RankedClass[Any]) -> Resampled:
    """Return the best F1 of all ranks, whatever their confidences; undefined as in `best_f1_by_confidence`."""
    return _best_f1(ranked.judged(), None)


def _best_f1(judged: Judged, confidence: NDArray[np.float64] | None) -> Resampled:
    return ResampledBestF1(judged.judgement, confidence, judged.image, judged.positive_image)


def calibration_error(ranked: RankedClass[MatchedResults] | RankedClass[LabelledItems]) -> float:
    """Return the expected calibration error; see `calibration` for where it is undefined."""
    calibrated = calibration(ranked.judged().judgement, ranked.results.confidence)
    return float("nan") if calibrated is None else calibrated.error
