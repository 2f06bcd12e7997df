"""Boxes that can match nothing."""

import numpy as np
from numpy.typing import NDArray


def is_upside_down(box: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether right is left of left, or bottom above top.

    Args:
        box: (n, 4) left, top, right, bottom.

    Returns:
        (n,) booleans.
    """
    upside_down: NDArray[np.bool_] = np.any(box[:, 2:] < box[:, :2], axis=1)
    return upside_down


def is_outside(box: NDArray[np.float64], size: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether a box has no pixel of its image; one that only reaches over its edge is an ordinary detection.

    Args:
        box: (n, 4) left, top, right, bottom; 1-based and inclusive.
        size: (n, 2) width and height of each box's image.

    Returns:
        (n,) booleans.
    """
    outside: NDArray[np.bool_] = np.any((box[:, 2:] < 1) | (box[:, :2] > size), axis=1)
    return outside
