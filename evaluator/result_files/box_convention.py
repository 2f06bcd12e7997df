"""Finds out in which convention boxes were written, by how they fit their images.

Only the numbers and the sizes of the images are looked at, never ground truth. Boxes of other tools are the most common
reason for a score of 0: as fractions of the image, or with width and height in place of the right and bottom sides.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

ENOUGH = 5  # boxes; fewer do not show a convention
_MOST = 0.9  # of the boxes must fit a convention
_MISFITS = 0.25  # of the boxes: with fewer, the stated convention is the right one ...
_FEW_MISFITS, _FEWER = 0.05, 10  # ... unless more than this share, and ten times those of another convention
_LARGEST_FRACTION = 1.5  # boxes may reach beyond the edge
_TOLERANCE, _TOLERANCE_PIXELS = 0.05, 2.0  # beyond the edge: a share of the image, and pixels
_LARGEST_SCORE, _SCORE_SHARE = 30.0, 0.1  # scores, and logits: at most this, and this share of the image's height


class BoxConvention(StrEnum):
    """Meaning of the four numbers of a box. Pixels may be counted from 0 or 1."""

    CORNERS = "left, top, right, bottom"
    SIZES = "x, y, width, height"
    CENTRES = "centre x, centre y, width, height"
    FRACTIONS = "fractions of the image"  # of any convention
    SCORE_LAST = "left, top, right, bottom, score"  # so the score's place has left, and bottom's has the score


@dataclass(frozen=True, slots=True)
class BoxEvidence:
    """How many boxes fit their images in each convention. Evidence of several files is added.

    Attributes:
        boxes: number of boxes.
        fitting: number of boxes by convention.
    """

    boxes: int = 0
    fitting: Mapping[BoxConvention, int] = field(default_factory=dict)

    def __add__(self, other: "BoxEvidence") -> "BoxEvidence":
        return BoxEvidence(self.boxes + other.boxes, Counter(self.fitting) + Counter(other.fitting))

    def likely(self, stated: BoxConvention = BoxConvention.CORNERS) -> BoxConvention | None:
        """Return the convention that the boxes seem to have; None if they fit the stated one, or none.

        Args:
            stated: the convention that they should have.
        """
        fitting = {convention: self.fitting.get(convention, 0) for convention in BoxConvention}
        if self.boxes < ENOUGH:
            return None
        if fitting[BoxConvention.FRACTIONS] >= _MOST * self.boxes:
            return BoxConvention.FRACTIONS
        order = (BoxConvention.SCORE_LAST, BoxConvention.SIZES, BoxConvention.CENTRES, BoxConvention.CORNERS)
        best = max(order, key=lambda convention: fitting[convention])  # the first of equals
        misfits, fewest = self.boxes - fitting[stated], self.boxes - fitting[best]
        if misfits <= _MISFITS * self.boxes:  # small boxes fit as sizes and as centres
            is_clear = misfits >= ENOUGH and misfits > _FEW_MISFITS * self.boxes and misfits > _FEWER * fewest
            return best if is_clear else None
        return best if best is not stated and fitting[best] >= _MOST * self.boxes else None


def evidence_of(
    box: NDArray[np.float64], size: NDArray[np.int32] | None, confidence: NDArray[np.float64] | None = None
) -> BoxEvidence:
    """Return how boxes fit their images.

    Args:
        box: (n, 4) numbers as they were written, whatever they mean.
        size: (n, 2) width and height of each box's image in pixels; None if unknown, when only
            fractions, and a confidence of at most 1 in the last column, are evident.
        confidence: (n,) of each box, before the box in a line; None if there is none.
    """
    fractions = (box <= _LARGEST_FRACTION).all(axis=1) & (box >= 1 - _LARGEST_FRACTION).all(axis=1)
    found = {BoxConvention.FRACTIONS: fractions}
    first, second = box[:, :2], box[:, 2:]
    if size is not None:
        found[BoxConvention.FRACTIONS] = fractions & (size > 2 * _LARGEST_FRACTION).all(axis=1)
        found[BoxConvention.CORNERS] = _fit(first, second, size)
        found[BoxConvention.SIZES] = _fit(first, first + second, size)
        found[BoxConvention.CENTRES] = _fit(first - second / 2, first + second / 2, size)
    if confidence is not None:
        largest = 1 if size is None else np.clip(_SCORE_SHARE * size[:, 1], 1, _LARGEST_SCORE)
        is_score = (np.abs(box[:, 3]) <= largest) & (box[:, 1:3] > _LARGEST_FRACTION).all(axis=1)
        if size is not None:
            first = np.stack([confidence, box[:, 0]], axis=1)
            is_score &= _fit(first, box[:, 1:3], size) | _fit(first, first, size)
        found[BoxConvention.SCORE_LAST] = is_score
    return BoxEvidence(len(box), {convention: int(np.count_nonzero(fit)) for convention, fit in found.items()})


def _fit(start: NDArray[np.float64], end: NDArray[np.float64], size: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return whether boxes from (n, 2) `start` to (n, 2) `end` are upright, and in their images up to a tolerance."""
    beyond = _TOLERANCE * size + _TOLERANCE_PIXELS
    misfits = (start < -beyond) | (end > size + beyond) | (end < start) | (end < 1) | (start > size)
    return np.logical_not(misfits.any(axis=1))
