"""How what result files of a task say is stored as columns, and checked when they are read back.

Columns come from a process that has read a stranger's archive, and may have been taken over by it. So whatever scoring
relies on is checked again: that indices are within their lists, numbers finite, and columns of one length.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Competition, Edition

Content = TypeVar("Content")

_UNLISTED = np.iinfo(np.int32).max  # how many items there may be where none are listed, and nothing is scored


class Columns(Protocol):
    """The stored arrays of one competition."""

    def array(self, name: str, kind: type[np.generic], *, columns: int | None = None) -> NDArray[Any]:
        """Return an array of this type: (n,), or (n, columns).

        Raises:
            ColumnsError: there is none.
        """
        ...

    def __contains__(self, name: str) -> bool:
        """Whether there is an array of this name."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class Known:
    """What columns are checked against.

    Attributes:
        image_set: the test items of the competition; None if there are none, so that nothing can be scored.
    """

    competition: Competition
    edition: Edition
    image_set: ImageSet | None

    @property
    def images(self) -> int:
        """How many images the test set has."""
        return _UNLISTED if self.image_set is None else len(self.image_set.images)

    @property
    def persons(self) -> int:
        """How many people the test set has."""
        known = None if self.image_set is None else self.image_set.persons
        return _UNLISTED if known is None else len(known)


class ContentColumns(ABC):
    """One task's. Each task's folder has a subclass."""

    @abstractmethod
    def arrays(self, entry: Entry) -> Mapping[str, NDArray[Any]]:
        """Return the columns of what was entered."""

    @abstractmethod
    def content(self, classes: tuple[str, ...], columns: Columns, known: Known) -> Any:
        """Return the content of an entry.

        Args:
            classes: those entered.

        Raises:
            ColumnsError: a column is missing, or of another type or shape.
            ValueError: what the columns say cannot be.
        """


class ColumnsByClass(ContentColumns, Generic[Content]):
    """Columns of each class entered."""

    def arrays(self, entry: Entry) -> Mapping[str, NDArray[Any]]:
        """Return the columns of all classes, named by the number of the class."""
        numbers = {name: number for number, name in enumerate(entry.competition.classes)}
        return {
            f"{numbers[name]}/{column}": array
            for name in entry.classes
            for column, array in self.of_class(entry.content[name]).items()
        }

    def content(self, classes: tuple[str, ...], columns: Columns, known: Known) -> dict[str, Content]:
        """Return the content by class."""
        numbers = {name: number for number, name in enumerate(known.competition.classes)}
        return {name: self.to_class(_Below(columns, f"{numbers[name]}/"), known) for name in classes}

    @abstractmethod
    def of_class(self, content: Content) -> Mapping[str, NDArray[Any]]:
        """Return the columns of one class."""

    @abstractmethod
    def to_class(self, columns: Columns, known: Known) -> Content:
        """Return the content of one class; raises as `content`."""


@dataclass(frozen=True, slots=True)
class _Below:
    columns: Columns
    prefix: str

    def array(self, name: str, kind: type[np.generic], *, columns: int | None = None) -> NDArray[Any]:
        return self.columns.array(self.prefix + name, kind, columns=columns)

    def __contains__(self, name: str) -> bool:
        return self.prefix + name in self.columns


def check_index(name: str, index: NDArray[Any], count: int) -> None:
    """Check that all indices are below a number.

    Raises:
        ValueError: one is not.
    """
    if len(index) and not (index.min() >= 0 and index.max() < count):
        raise ValueError(f"{name}: an index is out of range")


def check_finite(name: str, values: NDArray[np.float64]) -> None:
    """Check that all numbers are finite.

    Raises:
        ValueError: one is not.
    """
    if not np.isfinite(values).all():
        raise ValueError(f"{name}: a number is not finite")


def check_lengths(*columns: NDArray[Any]) -> None:
    """Check that columns have one length.

    Raises:
        ValueError: they have not.
    """
    if len({len(column) for column in columns}) > 1:
        raise ValueError("columns differ in length")


def check_sorted(name: str, values: NDArray[Any]) -> None:
    """Check that no number is less than the one before.

    Raises:
        ValueError: one is.
    """
    if (values[1:] < values[:-1]).any():
        raise ValueError(f"{name}: the numbers decrease")
