"""Base class for scoring a task."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.boundaries import BoundaryCounts
from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.statistics.evidence import Evidence
from vocboard.evaluator.tasks.truth import Truth

SomeTruth = TypeVar("SomeTruth", bound=Truth)


@dataclass(frozen=True, eq=False, slots=True)
class LabelMapCounts:
    """The pixels of an entry's label maps.

    Attributes:
        confusion_matrix: (n + 1, n + 1) pixels; rows are ground truth, columns results, background first.
        images_by_label: (n + 1,) number of images with each true label.
        boundaries: pixels near boundaries; None if no metric of the competition needs them.
    """

    confusion_matrix: NDArray[np.int64]
    images_by_label: NDArray[np.int64]
    boundaries: BoundaryCounts | None


class Scorer(ABC, Generic[SomeTruth]):
    """Scores one task. Each task has a subclass."""

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
        self, entry: Entry, truth: SomeTruth, edition: Edition, public: ImageSet, confusions: ImageConfusions | None
    ) -> Evidence:
        """Return what statistics need of an entry.

        Args:
            entry: entry in one competition.
            truth: ground truth of its task and image set.
            edition: the edition, whose rules apply.
            public: the image set.
            confusions: pixel counts of each image; None for tasks without label maps.
        """
