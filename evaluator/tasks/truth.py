"""What a task scores against."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.rules import Edition

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class ClassCount:
    """How many things of one class there are to find: images, objects, parts or people, as the task has it."""

    positives: int
    difficult: int = 0


class Truth(ABC):
    """The secret half of one task and image set. Each task's folder has a subclass: a dataclass of arrays."""

    def arrays(self) -> Arrays:
        """Return the arrays to store, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]  # a dataclass

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return what `arrays` took apart."""
        return cls(**{field.name: arrays[field.name] for field in fields(cls)})  # type: ignore[arg-type]  # a dataclass

    def digested(self) -> Iterator[Arrays]:
        """Yield everything that scores depend on, however it is stored, for the digest of the ground truth."""
        yield self.arrays()

    @abstractmethod
    def class_counts(self, edition: Edition) -> Mapping[str, ClassCount]:
        """Return how much there is to find of each class; empty where counts say nothing."""


def count(mask: NDArray[np.bool_]) -> int:
    """Return how many are true."""
    return int(np.count_nonzero(mask))


def as_bytes(text: str) -> NDArray[np.uint8]:
    """Return text as an array of UTF-8 bytes."""
    return np.frombuffer(text.encode(), dtype=np.uint8)


def as_text(array: NDArray[Any]) -> str:
    """Return what `as_bytes` made an array."""
    return array.tobytes().decode()
