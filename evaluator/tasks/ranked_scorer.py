"""Base class for scoring tasks with a ranked list per class: classification, detection, action, layout, instances."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Generic

import numpy as np

from vocboard.evaluator.evidence.evidence import Evidence, EvidenceByClass
from vocboard.evaluator.evidence.ranked_evidence import LabelledItems
from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.names import CurveKind, Metric
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Competition, Edition
from vocboard.evaluator.scores import AnyCurve, CompetitionScores, Measure
from vocboard.evaluator.tasks.definitions import METRICS, TASKS
from vocboard.evaluator.tasks.ranked_classes import ClassMetric, RankedClass, SomeClass
from vocboard.evaluator.tasks.scorer import LabelMapCounts, Scorer, SomeTruth, score_of


@dataclass(frozen=True, eq=False, slots=True)
class ScoredEntry(Generic[SomeTruth]):
    """A whole entry, for metrics that cannot be computed for one class from its evidence.

    Attributes:
        metric: what is computed.
        entry: in one competition.
        truth: ground truth of its task and image set.
        edition: the edition, whose rules apply.
        evidence: of the entry.
        images: the image set.
    """

    metric: Metric
    entry: Entry
    truth: SomeTruth
    edition: Edition
    evidence: EvidenceByClass[Any]
    images: ImageSet


@dataclass(frozen=True, slots=True)
class EntryValues:
    """A metric of a whole entry.

    Attributes:
        by_class: a number if the metric has no intervals.
        objects: see `Measure.objects`.
    """

    by_class: Mapping[str, Resampled | float]
    objects: Mapping[str, int] | None = None


EntryMetric = Callable[[ScoredEntry[Any]], EntryValues]


class RankedScorer(Scorer[SomeTruth], Generic[SomeTruth, SomeClass]):
    """Scores one task with ranked results. Each such task has a subclass.

    Attributes:
        by_class: how each metric of the task is computed for one class.
        by_entry: metrics that are computed from the whole entry instead, so not from evidence that was stored.
    """

    by_class: ClassVar[Mapping[Metric, ClassMetric]]
    by_entry: ClassVar[Mapping[Metric, EntryMetric]] = MappingProxyType({})

    @property
    def metrics(self) -> frozenset[Metric]:
        """The metrics that can be computed."""
        return frozenset({*self.by_class, *self.by_entry})

    @abstractmethod
    def evidence(
        self, entry: Entry, truth: SomeTruth, edition: Edition, public: ImageSet, label_maps: LabelMapCounts | None
    ) -> EvidenceByClass[SomeClass]:
        """Return the ranked results of each class entered."""

    def numbers(self, entry: Entry, name: str, ranked: RankedClass[SomeClass]) -> tuple[int, int]:
        """Return the numbers of results of a class: all, and those ignored because they match difficult objects.

        They are counted in the evidence, which is enough if that has every result of the class.
        """
        judgement = ranked.judged().judgement
        return len(judgement.true), int(np.count_nonzero(~(judgement.true | judgement.false)))

    def score(
        self, entry: Entry, truth: SomeTruth, edition: Edition, public: ImageSet, label_maps: LabelMapCounts | None
    ) -> CompetitionScores:
        """Score the classes entered.

        Curves and counts are those of the edition's overlap, or that of the primary metric if it has its own. They have
        difficult objects if that counts them.
        """
        competition, rules = entry.competition, entry.competition.rules
        evidence = self.evidence(entry, truth, edition, public, label_maps)
        classes = _ranked(rules.metric, evidence, edition, competition)

        def measure(metric: Metric) -> Measure:
            if metric in self.by_entry:
                found = self._values_of_entry(metric, evidence, edition)
                return Measure(metric, {name: score_of(each) for name, each in found.by_class.items()}, found.objects)
            ranked = _ranked(metric, evidence, edition, competition) if metric in evidence.others else classes
            return Measure(metric, {name: score_of(each) for name, each in self._values(metric, ranked).items()})

        with_difficult = rules.metric is Metric.AVERAGE_PRECISION_WITH_DIFFICULT
        judgements = {name: each.judged(with_difficult=with_difficult).judgement for name, each in classes.items()}
        has_curves = TASKS[competition.task].has_curves
        numbers = {name: self.numbers(entry, name, ranked) for name, ranked in classes.items()}
        return CompetitionScores(
            competition=competition.key,
            task=competition.task,
            primary=measure(rules.metric),
            secondary=tuple(measure(metric) for metric in rules.secondary),
            details={
                name: judgement.details(results=numbers[name][0], difficult=0 if with_difficult else numbers[name][1])
                for name, judgement in judgements.items()
            },
            curves={name: _curve(ranked) or judgements[name].curve() for name, ranked in classes.items() if has_curves},
            not_entered=tuple(name for name in competition.classes if name not in classes),
        )

    def values(
        self, metric: Metric, evidence: Evidence, edition: Edition, competition: Competition
    ) -> Mapping[str, Resampled | float]:
        """Compute a metric from evidence."""
        if not isinstance(evidence, EvidenceByClass):
            raise TypeError(f"{type(evidence).__name__} has no ranked results")
        if metric in self.by_entry:
            return self._values_of_entry(metric, evidence, edition).by_class
        return self._values(metric, _ranked(metric, evidence, edition, competition))

    def _values_of_entry(self, metric: Metric, evidence: EvidenceByClass[SomeClass], edition: Edition) -> EntryValues:
        source = evidence.source
        if source is None:
            raise ValueError(f"{metric} needs more than evidence, and this evidence does not have its source")
        entry = ScoredEntry(metric, source.entry, source.truth, edition, evidence, source.images)
        return self.by_entry[metric](entry)

    def _values(self, metric: Metric, classes: Mapping[str, RankedClass[SomeClass]]) -> Mapping[str, Resampled | float]:
        return {name: self.by_class[metric](ranked.of(metric)) for name, ranked in classes.items()}


def _ranked(
    metric: Metric, evidence: EvidenceByClass[SomeClass], edition: Edition, competition: Competition
) -> dict[str, RankedClass[SomeClass]]:
    return {
        name: RankedClass(metric, results, edition, competition, evidence.images)
        for name, results in evidence.of(metric).items()
    }


def _curve(ranked: RankedClass[Any]) -> AnyCurve | None:
    """Return the ROC curve if it is that of the primary metric."""
    if METRICS[ranked.rules.metric].curve is CurveKind.ROC and isinstance(ranked.results, LabelledItems):
        return ranked.results.items().curve(ranked.rules.roc)
    return None
