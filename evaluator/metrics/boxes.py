"""Boxes and their overlap; the inclusive pixel convention is stated here and nowhere else.

A box is left, top, right, bottom. The top-left pixel of an image has coordinates (1, 1) and a box includes its right
column and bottom row, so that its width is right − left + 1. Coordinates may be fractional and outside the image.

Source: VOC development kits, VOCevaldet.m; VOC2010 document section 4.4.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import Overlap

Boxes = NDArray[np.float64]
Indices = NDArray[np.int64]

PAIRS_AT_ONCE = 1_000_000  # bounds the memory of a comparison to some 100 MB, whatever was uploaded


def intersection_over_union(a: Boxes, b: Boxes) -> NDArray[np.float64]:
    """Return the overlap of each box of `a` with the box of `b` in the same row.

    area(a ∩ b) / area(a ∪ b), where a box's area is (right − left + 1) · (bottom − top + 1).

    Args:
        a: (n, 4) boxes in pixels.
        b: (n, 4) boxes in pixels.

    Returns:
        (n,) fractions. 0.0 where the boxes don't meet, which upside-down boxes never do.

    >>> float(intersection_over_union(np.array([[1.0, 1, 10, 10]]), np.array([[1.0, 1, 10, 5]]))[0])
    0.5
    """
    width = np.minimum(a[:, 2], b[:, 2]) - np.maximum(a[:, 0], b[:, 0]) + 1
    height = np.minimum(a[:, 3], b[:, 3]) - np.maximum(a[:, 1], b[:, 1]) + 1
    meet = (width > 0) & (height > 0)
    intersection = np.where(meet, width * height, 0.0)
    # Where they meet both areas are positive; elsewhere the union may be anything, zero included.
    union = np.where(meet, _area(a) + _area(b) - intersection, 1.0)
    return intersection / union


def is_enough(overlap: NDArray[np.float64], rule: Overlap) -> NDArray[np.bool_]:
    """Whether each overlap is a match under an edition's rule."""
    return overlap > rule.threshold if rule.strict else overlap >= rule.threshold


def pairs_within_groups(
    found_group: NDArray[np.integer], true_group: NDArray[np.integer], at_most: int = PAIRS_AT_ONCE
) -> Iterator[tuple[Indices, Indices]]:
    """Yield, chunk by chunk, every pair of a found and a true thing that are in the same group (image, person).

    Args:
        found_group: (n,) group of each found thing, a position in some list, in any order.
        true_group: (m,) group of each true thing, in any order.
        at_most: pairs per chunk; a chunk is only larger if one found thing alone has more.

    Yields:
        Two (k,) arrays, indices of found and of true things. Pairs are in the order of the found, and for one found
        thing in the order of the true; all pairs of one found thing are in the same chunk.
    """
    groups = 1 + max(int(found_group.max(initial=-1)), int(true_group.max(initial=-1)))
    true_in_group = np.bincount(true_group, minlength=groups)
    start_of_group = np.cumsum(true_in_group) - true_in_group
    by_group = np.argsort(true_group, kind="stable")
    paired = np.flatnonzero(true_in_group[found_group])  # most are in a group without a true thing
    group = found_group[paired]
    count = true_in_group[group]
    total = np.cumsum(count)
    first = 0
    while first < len(paired):
        done = total[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(total, done + at_most, side="right")))
        counts = count[first:last]
        position_in_group = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        start = np.repeat(start_of_group[group[first:last]], counts)
        yield np.repeat(paired[first:last], counts), by_group[start + position_in_group]
        first = last


def best_overlapping(
    found_box: Boxes,
    found_group: NDArray[np.integer],
    true_box: Boxes,
    true_group: NDArray[np.integer],
) -> tuple[Indices, NDArray[np.float64]]:
    """Return for each found box the true box of its group that it overlaps most; the first of equals.

    Args:
        found_box: (n, 4) boxes.
        found_group: (n,) group of each.
        true_box: (m, 4) boxes.
        true_group: (m,) group of each.

    Returns:
        (n,) indices of true boxes, and (n,) overlaps. Where the overlap is 0.0 the index means nothing: the group has
        no true box or none meets the found one.
    """
    best = np.zeros(len(found_box), dtype=np.int64)
    best_overlap = np.zeros(len(found_box))
    for found, true in pairs_within_groups(found_group, true_group):
        overlap = intersection_over_union(found_box[found], true_box[true])
        starts = np.flatnonzero(np.diff(found, prepend=-1))
        largest = np.maximum.reduceat(overlap, starts)
        is_largest = np.flatnonzero(overlap == np.repeat(largest, np.diff(starts, append=len(found))))
        first_largest = is_largest[np.flatnonzero(np.diff(found[is_largest], prepend=-1))]
        best[found[starts]] = true[first_largest]
        best_overlap[found[starts]] = largest
    return best, best_overlap


def _area(box: Boxes) -> NDArray[np.float64]:
    return (box[:, 2] - box[:, 0] + 1) * (box[:, 3] - box[:, 1] + 1)
