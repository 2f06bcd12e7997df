"""How the ground truth of a task is read from a tree."""

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from vocboard.evaluator.ground_truth.image_set_files import Listed
from vocboard.evaluator.ground_truth.material import Material
from vocboard.evaluator.ground_truth.model import Key
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.rules import TaskRules
from vocboard.evaluator.tasks.truth import Truth

SomeTruth = TypeVar("SomeTruth", bound=Truth)


class TruthReader(ABC, Generic[SomeTruth]):
    """Reads the ground truth of one task. Each task's folder has a subclass.

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
