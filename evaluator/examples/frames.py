"""Crops of images around boxes, and boxes as fractions of a crop."""

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float64]


def frame_around(box: Boxes, margin: float) -> Boxes:
    """Return (4,) the edges, in pixels from 0, of a box in VOC's coordinates with a margin on each side.

    Args:
        box: (4,) left, top, right, bottom.
        margin: fraction of the box's width and height.
    """
    edges = box - np.array([1, 1, 0, 0])
    sides = np.maximum(np.tile(edges[2:] - edges[:2], 2), 1)
    return np.asarray(edges + margin * sides * np.array([-1, -1, 1, 1]))


def to_frame(boxes: Boxes, frame: Boxes) -> Boxes:
    """Return (n, 4) boxes in VOC's coordinates as fractions of a frame."""
    edges = boxes - np.array([1, 1, 0, 0])
    return np.asarray((edges - np.tile(frame[:2], 2)) / np.tile(frame[2:] - frame[:2], 2))


def from_frame(boxes: Boxes, frame: Boxes) -> Boxes:
    """Return (n, 4) or (4,) boxes in fractions of a frame in VOC's coordinates."""
    edges = boxes * np.tile(frame[2:] - frame[:2], 2) + np.tile(frame[:2], 2)
    return np.asarray(edges + np.array([1, 1, 0, 0]))
