"""Checks for boxes that cannot match anything."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.problems.boxes import BOX_OUTSIDE_IMAGE, BOX_UPSIDE_DOWN
from vocboard.evaluator.result_files.box_convention import BoxConvention, BoxEvidence, evidence_of
from vocboard.evaluator.result_files.report import FileReport


def warn_of_boxes(
    box: NDArray[np.float64],
    size: NDArray[np.int32] | None,
    line_of: Callable[[int], int | None],
    report: FileReport,
    confidence: NDArray[np.float64] | None = None,
) -> NDArray[np.bool_]:
    """Report boxes of a file that cannot match anything, and note how its boxes fit their images.

    Args:
        box: (n, 4) left, top, right, bottom; 1-based and inclusive.
        size: (n, 2) width and height of each box's image; None if unknown.
        line_of: returns the line of a box, by its index.
        report: of the file.
        confidence: (n,) of each box; None if lines have none.

    Returns:
        (n,) which boxes cannot match anything.
    """
    wrong = is_upside_down(box)
    report.warn_of(BOX_UPSIDE_DOWN, wrong, line_of, "box", "boxes")
    if size is not None:
        outside = is_outside(box, size) & ~wrong
        report.warn_of(BOX_OUTSIDE_IMAGE, outside, line_of, "box", "boxes")
        wrong |= outside
    if wrong.any() or size is None:
        report.boxes = evidence_of(box, size, confidence)
    else:  # the common case: boxes of other conventions would have been among them
        report.boxes = BoxEvidence(len(box), {BoxConvention.CORNERS: len(box)})
    return wrong


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

    They seem so if some start exactly at 0, none starts before 0, and none reaches the last column or row. Boxes
    that all end at 1 or before are something else.

    Args:
        box: (n, 4) left, top, right, bottom.
        size: (n, 2) width and height of each box's image.

    Returns:
        (n,) booleans; all false if the boxes seem to be 1-based.
    """
    at_zero: NDArray[np.bool_] = (box[:, 0] == 0) | (box[:, 1] == 0)
    if not at_zero.any() or np.any(box < 0) or np.any(box[:, 2:] > size - 1) or np.all(box[:, 2:] <= 1):
        return np.zeros_like(at_zero)
    return at_zero
