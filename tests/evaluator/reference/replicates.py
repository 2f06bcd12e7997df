"""A replicate of the bootstrap, literally: every image that was drawn k times becomes k images, with all it has."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Row = TypeVar("Row")
Times = dict[str, int]  # how often each image was drawn


def copy_name(image: str, number: int) -> str:
    return f"{image} #{number}"


def copied(
    rows: Iterable[Row], times: Times, image_of: Callable[[Row], str], renamed: Callable[[Row, str], Row]
) -> list[Row]:
    """Return all copies of all rows; those of a row follow each other."""
    found = []
    for row in rows:
        for number in range(times[image_of(row)]):
            found.append(renamed(row, copy_name(image_of(row), number)))
    return found


def tuples(rows: Iterable[Row], times: Times) -> list[Row]:
    """Copy rows whose first element is the image."""
    return copied(rows, times, lambda row: row[0], lambda row, name: (name, *row[1:]))  # type: ignore[index, return-value]
