"""Rows of detections, which the readers of all formats yield."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple

from vocboard.evaluator.conversion.boxes import (
    Four,
    from_centre,
    from_corner_and_size,
    from_corners,
)


class Convention(Enum):
    """How a format represents boxes; see `boxes`."""

    CORNER_AND_SIZE = "x, y, width, height"
    CORNERS = "x1, y1, x2, y2"
    CENTRE = "centre x, centre y, width, height as fractions"


class Row(NamedTuple):
    """One detection of the input, not yet converted."""

    image: Any
    category: Any
    confidence: Decimal
    box: Four
    file: str
    place: int  # line or record in the file, from 1 on


@dataclass(frozen=True, slots=True)
class Source:
    """The detections of an input.

    Attributes:
        first_category: number of the edition's first class, if categories are numbers.
        images: names of the images with a file or entry in the input; None if only detections name images.
    """

    convention: Convention
    first_category: int
    rows: Iterable[Row]
    images: tuple[str, ...] | None = None


FROM: Mapping[Convention, Callable[[Four, tuple[int, int]], Four]] = {
    Convention.CORNER_AND_SIZE: lambda box, _: from_corner_and_size(box),
    Convention.CORNERS: lambda box, _: from_corners(box),
    Convention.CENTRE: from_centre,
}
