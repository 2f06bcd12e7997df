"""Base class of a task's ground truth."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.rules import Edition

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class ClassCount:
    """Counts for one class: images, objects, parts or people, depending on the task."""

    positives: int
    difficult: int = 0


@dataclass(frozen=True, slots=True)
class ClassStatistics:
    """One class in one image set, as the documents' tables have it.

    Attributes:
        images: with at least one object (detection), labelled pixel (segmentation), or person (action, layout).
        objects: not difficult; people for actions, parts for layout; None for segmentation.
        difficult: number of difficult objects; None for tasks without them.
    """

    images: int
    objects: int | None
    difficult: int | None = None


@dataclass(frozen=True, slots=True)
class TruthStatistics:
    """All classes, and `total`, where an image counts once."""

    classes: Mapping[str, ClassStatistics]
    total: ClassStatistics


class Truth(ABC):
    """The secret part of one task and image set. Each task has a subclass: a dataclass of arrays."""

    def arrays(self) -> Arrays:
        """Return the arrays to store, by name; without those that are None."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]  # a dataclass
        return {name: array for name, array in found.items() if array is not None}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Create an object from the arrays of `arrays`."""
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]  # a dataclass
        return cls(**{name: arrays[name] for name in names if name in arrays})

    def digested(self) -> Iterator[Arrays]:
        """Yield everything that scores depend on, independent of its storage, for the digest of the ground truth."""
        yield self.arrays()

    @abstractmethod
    def class_counts(self, edition: Edition) -> Mapping[str, ClassCount]:
        """Return counts by class; empty if the task has no meaningful counts."""

    @abstractmethod
    def statistics(self, public: ImageSet, edition: Edition) -> TruthStatistics:
        """Return how many images and objects of each class there are.

        Args:
            public: the image set that the truth is of.
            edition: for the names of classes.
        """


def count(mask: NDArray[np.bool_]) -> int:
    """Return how many are true."""
    return int(np.count_nonzero(mask))


def object_statistics(
    image: NDArray[np.integer], class_index: NDArray[np.integer], difficult: NDArray[np.bool_], classes: Sequence[str]
) -> TruthStatistics:
    """Return the statistics of objects, those that are difficult counted apart.

    Args:
        image: (n,) of each object.
        class_index: (n,) index into `classes`.
        difficult: (n,) of each object.
        classes: of the edition.
    """

    def of(own: NDArray[np.bool_]) -> ClassStatistics:
        counted = own & ~difficult
        return ClassStatistics(len(np.unique(image[counted])), count(counted), count(own & difficult))

    by_class = {name: of(class_index == index) for index, name in enumerate(classes)}
    return TruthStatistics(by_class, of(np.ones(len(image), dtype=np.bool_)))


def as_bytes(text: str) -> NDArray[np.uint8]:
    """Encode text as an array of UTF-8 bytes."""
    return np.frombuffer(text.encode(), dtype=np.uint8)


def as_text(array: NDArray[Any]) -> str:
    """Decode an array of `as_bytes`."""
    return array.tobytes().decode()
