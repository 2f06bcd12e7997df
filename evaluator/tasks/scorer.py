"""Base class for scoring a task."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from vocboard.evaluator.evidence.evidence import Evidence
from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.boundaries import BoundaryCounts
from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions
from vocboard.evaluator.names import Metric
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Competition, Edition
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.tasks.truth import Truth

SomeTruth = TypeVar("SomeTruth", bound=Truth)


@dataclass(frozen=True, eq=False, slots=True)
class LabelMapCounts:
    """The pixels of an entry's label maps.

    Attributes:
        by_image: the confusion matrix of each image.
        boundaries: pixels near boundaries; None if no metric of the competition needs them.
    """

    by_image: ImageConfusions
    boundaries: BoundaryCounts | None


class Scorer(ABC, Generic[SomeTruth]):
    """Scores one task. Each task has a subclass."""

    @property
    @abstractmethod
    def metrics(self) -> frozenset[Metric]:
        """The metrics that can be computed, from the `metrics.py` of the task."""

    @abstractmethod
    def score(
        self, entry: Entry, truth: SomeTruth, edition: Edition, public: ImageSet, label_maps: LabelMapCounts | None
    ) -> CompetitionScores:
        """Score what was entered.

        Args:
            entry: entry in one competition.
            truth: ground truth of its task and image set.
            edition: the edition, whose rules apply.
            public: the image set.
            label_maps: pixel counts of label maps, counted while they were read; None for other tasks.
        """

    @abstractmethod
    def evidence(
        self, entry: Entry, truth: SomeTruth, edition: Edition, public: ImageSet, label_maps: LabelMapCounts | None
    ) -> Evidence:
        """Return what statistics need of an entry.

        Args:
            entry: entry in one competition.
            truth: ground truth of its task and image set.
            edition: the edition, whose rules apply.
            public: the image set.
            label_maps: pixel counts of label maps; None for other tasks.
        """

    @abstractmethod
    def values(
        self, metric: Metric, evidence: Evidence, edition: Edition, competition: Competition
    ) -> Mapping[str, Resampled | float]:
        """Compute a metric from evidence.

        Args:
            metric: of the task.
            evidence: what `evidence` returned.
            edition: the edition, whose rules apply.
            competition: the competition of the entry.

        Returns:
            By class entered, in the edition's order: a number if the metric has no intervals.

        Raises:
            ValueError: the metric cannot be computed from evidence.
        """

    def resampled(
        self, metric: Metric, evidence: Evidence, edition: Edition, competition: Competition
    ) -> Mapping[str, Resampled]:
        """Return a metric for any selection of the test images, by class.

        Raises:
            ValueError: the metric has no intervals.
        """
        values = self.values(metric, evidence, edition, competition)
        found = {name: value for name, value in values.items() if isinstance(value, Resampled)}
        if len(found) < len(values):
            raise ValueError(f"{metric} is computed as a number, so it has no intervals")
        return found


def score_of(value: Resampled | float) -> float:
    """Return the score on the test images."""
    return value.score() if isinstance(value, Resampled) else value
