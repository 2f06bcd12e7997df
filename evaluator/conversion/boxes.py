"""Boxes in the conventions of other tools.

VOC counts pixels from 1 and includes the right column and the bottom row. The others measure edges from 0: VOC's
pixel 1 is between their edges 0 and 1. So `left` and `top` differ by one, `right` and `bottom` are equal, and VOC's
right - left + 1 is COCO's width. The boxes themselves do not change.

Sources: COCO data format (bbox is x, y, width, height from the top left corner, 0-indexed); torchvision
(x1, y1, x2, y2 with 0 <= x1 < x2 <= W); Ultralytics and Darknet (centre and size, as fractions of the image).
"""

from decimal import Decimal
from typing import NamedTuple

from vocboard.evaluator.conversion.decimals import exact, quotient, without_quotient_error

Four = tuple[Decimal, Decimal, Decimal, Decimal]


class ConvertedDetection(NamedTuple):
    """One detection: the edition's image and class, VOC's box, and the line or record of the input."""

    image: str
    label: str
    confidence: Decimal
    box: Four  # left, top, right, bottom; 1-based, inclusive
    place: int = 0


def from_corner_and_size(box: Four) -> Four:
    """Return VOC's box of COCO's x, y, width, height.

    >>> list(map(int, from_corner_and_size(tuple(map(Decimal, (0, 0, 10, 5))))))
    [1, 1, 10, 5]
    """
    with exact():
        return box[0] + 1, box[1] + 1, box[0] + box[2], box[1] + box[3]


def to_corner_and_size(box: Four) -> Four:
    """Return COCO's x, y, width, height of VOC's box."""
    with exact():
        x, y = box[0] - 1, box[1] - 1
        return x, y, box[2] - x, box[3] - y


def from_corners(box: Four) -> Four:
    """Return VOC's box of x1, y1, x2, y2 measured from 0."""
    with exact():
        return box[0] + 1, box[1] + 1, box[2], box[3]


def to_corners(box: Four) -> Four:
    """Return x1, y1, x2, y2 measured from 0 of VOC's box."""
    with exact():
        return box[0] - 1, box[1] - 1, box[2], box[3]


def from_centre(box: Four, size: tuple[int, int]) -> Four:
    """Return VOC's box of YOLO's centre and size, fractions of an image's width and height."""
    with exact():
        half_width, half_height = box[2] * size[0] / 2, box[3] * size[1] / 2
        x, y = box[0] * size[0], box[1] * size[1]
        sides = x - half_width + 1, y - half_height + 1, x + half_width, y + half_height
        left, top, right, bottom = map(without_quotient_error, sides)
        return left, top, right, bottom


def to_centre(box: Four, size: tuple[int, int]) -> Four:
    """Return YOLO's centre and size, as fractions of an image's width and height, of VOC's box."""
    with exact():
        x, y = box[0] - 1, box[1] - 1
        return (
            quotient(x + box[2], 2 * size[0]),
            quotient(y + box[3], 2 * size[1]),
            quotient(box[2] - x, size[0]),
            quotient(box[3] - y, size[1]),
        )
