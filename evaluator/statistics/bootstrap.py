"""The bootstrap over test images: how much scores would change with another test set like this one.

Source: M. Everingham, S. M. A. Eslami, L. Van Gool, C. K. I. Williams, J. Winn and A. Zisserman, "Assessing the
Significance of Performance Differences on the PASCAL VOC Challenges via Bootstrapping", 2013.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from vocboard.evaluator.evidence.evidence import Evidence
from vocboard.evaluator.evidence.weights import REPLICATES, SEED, Weights, draw_weights
from vocboard.evaluator.names import Metric
from vocboard.evaluator.rules import Competition, Edition
from vocboard.evaluator.scores import Measure
from vocboard.evaluator.statistics.bias import bias_of, draw_parts
from vocboard.evaluator.statistics.intervals import LEVEL, MIN_IMAGES, Interval, ReplicatedMeasure
from vocboard.evaluator.tasks.definitions import METRICS, TASKS
from vocboard.evaluator.tasks.scorers import SCORERS

AT_ONCE = 1_000  # replicates, about, to limit memory


@dataclass(frozen=True, eq=False, slots=True)
class Bootstrap:
    """The replicates of one competition's entry.

    Attributes:
        images: number of test images.
        replicates: number of replicates.
        measures: the primary metric first, then the secondary ones that have intervals.
        further: other metrics of the task; empty unless `bootstrap_every_metric` computed them.
    """

    images: int
    replicates: int
    measures: Mapping[Metric, ReplicatedMeasure]
    further: Mapping[Metric, ReplicatedMeasure] = field(default_factory=dict)

    @property
    def primary(self) -> ReplicatedMeasure:
        """The metric that ranks methods."""
        return next(iter(self.measures.values()))

    @property
    def mean(self) -> Interval:
        """The interval of the mean, with 95 % confidence."""
        return self.primary.mean.interval()

    @property
    def per_class(self) -> Mapping[str, Interval]:
        """The interval of each class, with 95 % confidence."""
        return {name: self.primary.of_class(name).interval() for name in self.primary.measure.per_class}

    def as_json(self, level: float = LEVEL) -> dict[str, Any]:
        """Return the intervals of all metrics, and how they were computed; of further metrics, also the scores."""
        primary, *secondary = self.measures
        further = {
            metric.value: {"scores": each.measure.as_json(), **each.as_json(level)}
            for metric, each in self.further.items()
        }
        return {
            "resampled": "images",
            "images": self.images,
            "replicates": self.replicates,
            "seed": SEED,
            "level": level,
            "interval": "bias-corrected expanded percentile",
            **self.measures[primary].as_json(level),
            "secondary": {metric.value: self.measures[metric].as_json(level) for metric in secondary},
            **({"measures": further} if further else {}),
        }


def bootstrap(
    evidence: Evidence, edition: Edition, competition: Competition, replicates: int = REPLICATES
) -> Bootstrap:
    """Score each replicate of the test images in all metrics of the competition that have intervals.

    Raises:
        ValueError: there are fewer than two test images or two replicates.
    """
    if evidence.images < MIN_IMAGES or replicates < MIN_IMAGES:
        raise ValueError(f"{replicates} replicates of {evidence.images} test images; each must be at least 2")
    weights = draw_weights(evidence.images, replicates)
    rules = competition.rules
    measures = {
        metric: replicate(evidence, metric, edition, competition, weights)
        for metric in (rules.metric, *rules.secondary)
        if METRICS[metric].has_intervals
    }
    return Bootstrap(evidence.images, replicates, measures)


def bootstrap_every_metric(
    evidence: Evidence, edition: Edition, competition: Competition, replicates: int = REPLICATES
) -> Bootstrap:
    """Score each replicate in all metrics of the task that have intervals, not only those of the competition.

    Args:
        evidence: collected with the rules of `with_every_metric`.
        edition: the edition.
        competition: the competition, with the edition's rules.
        replicates: number of replicates.

    Raises:
        ValueError: as for `bootstrap`.
    """
    found = bootstrap(evidence, edition, with_every_metric(competition), replicates)
    own = (competition.rules.metric, *competition.rules.secondary)
    return replace(
        found,
        measures={metric: each for metric, each in found.measures.items() if metric in own},
        further={metric: each for metric, each in found.measures.items() if metric not in own},
    )


def with_every_metric(competition: Competition) -> Competition:
    """Return the competition with all metrics that its edition could ask for as secondary ones.

    Metrics that use the edition's interpolation are left out if the edition does not need one.
    """
    rules = competition.rules
    own = (rules.metric, *rules.secondary)
    has_interpolation = any(METRICS[metric].uses_interpolation for metric in own)
    possible = TASKS[competition.task].secondary_metrics(rules.layout_protocol)
    further = tuple(
        metric
        for metric in possible
        if metric not in own and (has_interpolation or not METRICS[metric].uses_interpolation)
    )
    return replace(competition, rules=replace(rules, secondary=(*rules.secondary, *further)))


def replicate(
    evidence: Evidence, metric: Metric, edition: Edition, competition: Competition, weights: Weights
) -> ReplicatedMeasure:
    """Score selections of the test images, and parts of them, in one metric.

    Args:
        evidence: of an entry in the competition.
        metric: primary or secondary metric of the competition.
        edition: the edition, whose rules apply.
        competition: the competition.
        weights: (images, b) how often each selection draws each image.
    """
    classes = SCORERS[competition.task].resampled(metric, evidence, edition, competition)
    scores = Measure(metric, {name: resampled.score() for name, resampled in classes.items()})
    number = weights.shape[1]
    # Together, because the few parts alone would take nearly as long as the replicates.
    selections = np.hstack((weights, draw_parts(evidence.images)))
    found = np.empty((len(classes), selections.shape[1]))
    for chosen in np.array_split(np.arange(selections.shape[1]), max(1, number // AT_ONCE)):
        block = selections.take(chosen, axis=1)
        for place, resampled in enumerate(classes.values()):
            found[place, chosen] = resampled.replicates(block)
    per_class, of_parts = np.hsplit(found, [number])
    biases = np.array([bias_of(*each) for each in zip(classes.values(), of_parts, strict=True)])
    return ReplicatedMeasure(scores, per_class, weights, biases)
