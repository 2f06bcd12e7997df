"""Base class for reading a task's ground truth from a tree."""

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from vocboard.evaluator.image_sets import ImageSet, Key
from vocboard.evaluator.rules import TaskRules
from vocboard.evaluator.tasks.image_set_files import Listed
from vocboard.evaluator.tasks.material import Material
from vocboard.evaluator.tasks.truth import Truth

SomeTruth = TypeVar("SomeTruth", bound=Truth)


class TruthReader(ABC, Generic[SomeTruth]):
    """Reads the ground truth of one task. Each task has a subclass.

    Attributes:
        needs_annotations: whether it needs the images' annotations.
        image_files: other files of the tree that it needs, with `{}` for the image.
    """

    needs_annotations: ClassVar[bool] = True
    image_files: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def read(self, key: Key, listed: Listed, rules: TaskRules, material: Material) -> tuple[ImageSet, SomeTruth | str]:
        """Return the public part and the ground truth, or why there is none, for the organiser.

        Partial ground truth is reported in the material's problems, with a code of the task's own.

        Args:
            key: the task and the image set.
            listed: the images of the image set.
            rules: of the task.
            material: the annotations and those of `image_files` that exist, by their name in the tree.
        """
