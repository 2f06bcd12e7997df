"""Base class for scoring a task."""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.statistics.evidence import Evidence
from vocboard.evaluator.tasks.truth import Truth

SomeTruth = TypeVar("SomeTruth", bound=Truth)


class Scorer(ABC, Generic[SomeTruth]):
    """Scores one task. Each task has a subclass."""

    @abstractmethod
    def score(
        self, entry: Entry, truth: SomeTruth, edition: Edition, confusion_matrix: NDArray[np.int64] | None
    ) -> CompetitionScores:
        """Score what was entered.

        Args:
            entry: entry in one competition.
            truth: ground truth of its task and image set.
            edition: the edition, whose rules apply.
            confusion_matrix: pixel counts of label maps, counted while they were read; None for other tasks.
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
