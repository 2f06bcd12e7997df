"""Stores results as columns, and checks columns when they are loaded.

Columns come from a process that has read an untrusted archive and may be compromised. So everything that scoring relies
on is checked again: indices are in range, numbers finite, and columns of equal length.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Competition, Edition

Content = TypeVar("Content")

_UNLISTED = np.iinfo(np.int32).max  # maximum number of items if none are listed; nothing is scored then


class Columns(Protocol):
    """The stored arrays of one competition."""

    def array(self, name: str, kind: type[np.generic], *, columns: int | None = None) -> NDArray[Any]:
        """Return an array of this type: (n,), or (n, columns).

        Raises:
            ColumnsError: there is no such array.
        """
        ...


@dataclass(frozen=True, eq=False, slots=True)
class Known:
    """The context for checking columns.

    Attributes:
        image_set: the test items of the competition; None if there are none, in which case nothing can be scored.
    """

    competition: Competition
    edition: Edition
    image_set: ImageSet | None

    @property
    def images(self) -> int:
        """Number of images in the test set."""
        return _UNLISTED if self.image_set is None else len(self.image_set.images)

    @property
    def persons(self) -> int:
        """Number of people in the test set."""
        known = None if self.image_set is None else self.image_set.persons
        return _UNLISTED if known is None else len(known)


class ContentColumns(ABC):
    """The columns of a task. Each task has a subclass."""

    @abstractmethod
    def arrays(self, entry: Entry) -> Mapping[str, NDArray[Any]]:
        """Return the columns of an entry."""

    @abstractmethod
    def content(self, classes: tuple[str, ...], columns: Columns, known: Known) -> Any:
        """Return the content of an entry.

        Args:
            classes: classes entered.

        Raises:
            ColumnsError: a column is missing, or has another type or shape.
            ValueError: the content of the columns is invalid.
        """


class ColumnsByClass(ContentColumns, Generic[Content]):
    """Columns of each class entered: the fields of a dataclass of arrays."""

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
        return {name: self.to_class(Below(columns, f"{numbers[name]}/"), known) for name in classes}

    def of_class(self, content: Content) -> Mapping[str, NDArray[Any]]:
        """Return the columns of one class."""
        return {field.name: getattr(content, field.name) for field in fields(content)}  # type: ignore[arg-type]

    @abstractmethod
    def to_class(self, columns: Columns, known: Known) -> Content:
        """Return the content of one class; raises like `content`."""


@dataclass(frozen=True, slots=True)
class Below:
    """The columns whose names begin with a prefix, under the rest of their names."""

    columns: Columns
    prefix: str

    def array(self, name: str, kind: type[np.generic], *, columns: int | None = None) -> NDArray[Any]:
        """Return an array, as `Columns` says."""
        return self.columns.array(self.prefix + name, kind, columns=columns)


def check_index(name: str, index: NDArray[Any], count: int) -> None:
    """Check that all indices are in range.

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
    """Check that columns have equal length.

    Raises:
        ValueError: they do not.
    """
    if len({len(column) for column in columns}) > 1:
        raise ValueError("columns differ in length")


def check_sorted(name: str, values: NDArray[Any]) -> None:
    """Check that numbers do not decrease.

    Raises:
        ValueError: they do.
    """
    if (values[1:] < values[:-1]).any():
        raise ValueError(f"{name}: the numbers decrease")
