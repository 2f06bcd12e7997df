"""Checks for boxes that cannot match anything."""

import numpy as np
from numpy.typing import NDArray


def is_upside_down(box: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether boxes are inverted: right < left, or bottom < top.

    Args:
        box: (n, 4) left, top, right, bottom.

    Returns:
        (n,) booleans.
    """
    upside_down: NDArray[np.bool_] = (box[:, 2] < box[:, 0]) | (box[:, 3] < box[:, 1])
    return upside_down


def is_outside(box: NDArray[np.float64], size: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return whether boxes are completely outside their image.

    Args:
        box: (n, 4) left, top, right, bottom; 1-based and inclusive.
        size: (n, 2) width and height of each box's image.

    Returns:
        (n,) booleans.
    """
    before: NDArray[np.bool_] = (box[:, 2] < 1) | (box[:, 3] < 1)
    return before | (box[:, 0] > size[:, 0]) | (box[:, 1] > size[:, 1])


def seem_zero_based(box: NDArray[np.float64], size: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which boxes are at column or row 0, if the boxes of the file seem to be 0-based.

    They seem so if some start exactly at 0, none starts before 0, and none reaches the last column or row.

    Args:
        box: (n, 4) left, top, right, bottom.
        size: (n, 2) width and height of each box's image.

    Returns:
        (n,) booleans; all false if the boxes seem to be 1-based.
    """
    at_zero: NDArray[np.bool_] = (box[:, 0] == 0) | (box[:, 1] == 0)
    if not at_zero.any() or np.any(box < 0) or np.any(box[:, 2:] > size - 1):
        return np.zeros_like(at_zero)
    return at_zero
