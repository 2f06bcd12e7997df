"""How the ground truth of a task is read, and its competitions scored."""

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.ground_truth.image_set_files import Listed
from vocboard.evaluator.ground_truth.material import Material
from vocboard.evaluator.ground_truth.model import Key
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Edition, TaskRules
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.tasks.truth import Truth

SomeTruth = TypeVar("SomeTruth", bound=Truth)


class Scorer(ABC, Generic[SomeTruth]):
    """The half of a task that knows the ground truth. Each task's folder has a subclass.

    Attributes:
        needs_annotations: whether its ground truth needs the annotations of the images.
        image_files: other files of the tree that it needs, with `{}` for the image.
    """

    needs_annotations: ClassVar[bool] = True
    image_files: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def read(self, key: Key, listed: Listed, rules: TaskRules, material: Material) -> tuple[ImageSet, SomeTruth | str]:
        """Return the public half and the truth, or in words for the organiser why there is none to be had.

        Truth that is there in part is noted in the material's problems.
        """

    @abstractmethod
    def score(
        self, entry: Entry, truth: SomeTruth, edition: Edition, confusion_matrix: NDArray[np.int64] | None
    ) -> CompetitionScores:
        """Score what was entered.

        Args:
            entry: one competition's.
            truth: of its task and image set.
            edition: whose rules apply.
            confusion_matrix: of label maps, whose pixels are counted while they are read; None for other tasks.
        """
