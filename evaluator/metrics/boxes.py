"""Boxes and their overlap, in the inclusive pixel convention.

A box is left, top, right, bottom. The top-left pixel of an image has coordinates (1, 1) and a box includes its right
column and bottom row, so that its width is right − left + 1. Coordinates may be fractional and outside the image.

Source: VOC development kits, VOCevaldet.m; VOC2010 document section 4.4.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.rules import Overlap

Boxes = NDArray[np.float64]
Indices = NDArray[np.int64]

PAIRS_AT_ONCE = 1_000_000  # limits the memory of a comparison to about 100 MB


def intersection_over_union(a: Boxes, b: Boxes) -> NDArray[np.float64]:
    """Return the overlap of each box of `a` with the box of `b` in the same row.

    area(a ∩ b) / area(a ∪ b), where a box's area is (right − left + 1) · (bottom − top + 1).

    Args:
        a: (n, 4) boxes in pixels.
        b: (n, 4) boxes in pixels.

    Returns:
        (n,) fractions; 0.0 if the boxes do not intersect, which includes inverted boxes.

    >>> float(intersection_over_union(np.array([[1.0, 1, 10, 10]]), np.array([[1.0, 1, 10, 5]]))[0])
    0.5
    """
    width = np.minimum(a[:, 2], b[:, 2]) - np.maximum(a[:, 0], b[:, 0]) + 1
    height = np.minimum(a[:, 3], b[:, 3]) - np.maximum(a[:, 1], b[:, 1]) + 1
    meet = (width > 0) & (height > 0)
    intersection = np.where(meet, width * height, 0.0)
    # If boxes intersect, both areas are positive; otherwise the union can be anything, including zero.
    union = np.where(meet, area(a) + area(b) - intersection, 1.0)
    return intersection / union


def is_enough(overlap: NDArray[np.float64], rule: Overlap) -> NDArray[np.bool_]:
    """Return whether each overlap is sufficient under an edition's rule. No overlap at all never is."""
    enough = overlap > rule.threshold if rule.strict else overlap >= rule.threshold
    return enough & (overlap > 0)


def pairs_within_groups(
    found_group: NDArray[np.integer], true_group: NDArray[np.integer], at_most: int = PAIRS_AT_ONCE
) -> Iterator[tuple[Indices, Indices]]:
    """Yield, in chunks, every pair of a detected and a true instance in the same group (image or person).

    Args:
        found_group: (n,) group index of each detected instance, in any order.
        true_group: (m,) group index of each true instance, in any order.
        at_most: pairs per chunk; a chunk is only larger if a single detected instance has more.

    Yields:
        Two (k,) arrays of indices of detected and true instances, ordered by detected, then by true instance; all pairs
        of a detected instance are in the same chunk.
    """
    groups = 1 + max(int(found_group.max(initial=-1)), int(true_group.max(initial=-1)))
    true_in_group = np.bincount(true_group, minlength=groups)
    start_of_group = np.cumsum(true_in_group) - true_in_group
    by_group = np.argsort(true_group, kind="stable")
    number_of_true = true_in_group.take(found_group)
    paired = np.flatnonzero(number_of_true)  # most groups have no true instance
    count = number_of_true.take(paired)
    start = start_of_group.take(found_group.take(paired))
    total = np.cumsum(count)
    first = 0
    while first < len(paired):
        done = int(total[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(total, done + at_most, side="right")))
        counts, ends = count[first:last], total[first:last] - done
        # The places of the true instances of a group follow one another.
        place = np.repeat(start[first:last] - (ends - counts), counts)
        place += np.arange(len(place))
        yield np.repeat(paired[first:last], counts), by_group.take(place)
        first = last


def best_overlapping(
    found_box: Boxes,
    found_group: NDArray[np.integer],
    true_box: Boxes,
    true_group: NDArray[np.integer],
) -> tuple[Indices, NDArray[np.float64]]:
    """Return for each detected box the true box of its group that it overlaps most, the first among equals.

    Args:
        found_box: (n, 4) detected boxes.
        found_group: (n,) group of each detected box.
        true_box: (m, 4) true boxes.
        true_group: (m,) group of each true box.

    Returns:
        (n,) indices of true boxes, and (n,) overlaps. If the overlap is 0.0, the index is meaningless: no true box of
        the group intersects the detected one.
    """
    best = np.zeros(len(found_box), dtype=np.int64)
    best_overlap = np.zeros(len(found_box))
    for found, true in pairs_within_groups(found_group, true_group):
        overlap = intersection_over_union(_rows(found_box, found), _rows(true_box, true))
        starts = _starts_of_runs(found)
        largest = np.maximum.reduceat(overlap, starts)
        is_largest = np.flatnonzero(overlap == np.repeat(largest, np.diff(starts, append=len(found))))
        first_largest = is_largest[_starts_of_runs(found[is_largest])]
        best[found[starts]] = true[first_largest]
        best_overlap[found[starts]] = largest
    return best, best_overlap


def _starts_of_runs(values: Indices) -> Indices:
    """Return the indices of the first of each run of equal values."""
    is_first = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)


def _rows(box: Boxes, rows: Indices) -> Boxes:
    """Return rows of boxes, gathered by coordinate: result files are read by column, and so are boxes here."""
    return box.T.take(rows, axis=1).T


def area(box: Boxes) -> NDArray[np.float64]:
    """Return the (n,) areas of boxes in pixels."""
    return (box[:, 2] - box[:, 0] + 1) * (box[:, 3] - box[:, 1] + 1)


def aspect_ratio(box: Boxes) -> NDArray[np.float64]:
    """Return the (n,) widths of boxes over their heights."""
    width, height = box[:, 2] - box[:, 0] + 1, box[:, 3] - box[:, 1] + 1
    return width / np.maximum(height, 1)
