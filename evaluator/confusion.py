"""Confusion matrices of label maps, and the accuracies taken from them.

Source: VOC development kits, VOCevalseg.m (2007: share of the true pixels; 2008 on: intersection over union);
VOC2010 document section 5.4.
"""

import numpy as np
from numpy.typing import NDArray

VOID = 255  # truth label of pixels that are left out
LABELS = 256


class Confusion:
    """Counts pixels by true and found label, one pair of label maps after the other.

    Attributes:
        matrix: (n + 1, n + 1) int64 pixels; rows truth, columns result, background first.
    """

    def __init__(self, classes: int) -> None:
        """Start with no pixel counted, for this number of classes besides background."""
        self.matrix: NDArray[np.int64] = np.zeros((classes + 1, classes + 1), dtype=np.int64)

    def add(self, truth: NDArray[np.uint8], result: NDArray[np.uint8]) -> None:
        """Count one image's pixels, all but those that are void in the truth.

        Args:
            truth: (height, width) labels, 0 background, 1 to n the classes, 255 void.
            result: (height, width) labels 0 to n.

        Raises:
            ValueError: the maps differ in shape, or hold a label that is none of these.
        """
        if truth.shape != result.shape:
            raise ValueError(f"label maps of {truth.shape} and {result.shape} pixels (height, width)")
        # One index a pixel, rows truth, over all 256 labels: no pixel has to be picked out before counting.
        pairs = truth.astype(np.uint16) * LABELS + result
        counts = np.bincount(pairs.ravel(), minlength=LABELS * LABELS).reshape(LABELS, LABELS)
        n = len(self.matrix)
        counted = counts[:VOID]
        if counted[n:].any() or counted[:, n:].any():
            raise ValueError(f"a label map holds labels other than 0 to {n - 1}")
        self.matrix += counts[:n, :n]


def intersection_over_union(matrix: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each label's TP / (TP + FP + FN), the accuracy from VOC2008 on.

    Args:
        matrix: (n, n) pixels, rows truth, columns result.

    Returns:
        (n,) fractions; NaN where a label is in neither truth nor result.
    """
    correct = np.diag(matrix)
    union = matrix.sum(axis=0) + matrix.sum(axis=1) - correct
    accuracy = np.full(len(matrix), np.nan)
    np.divide(correct, union, out=accuracy, where=union > 0)
    return accuracy


def pixel_accuracy(matrix: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share of each label's true pixels that is labelled correctly, the accuracy of VOC2007.

    Args:
        matrix: (n, n) pixels, rows truth, columns result.

    Returns:
        (n,) fractions; 0.0 where the truth has no pixel of a label, as the 2007 kit has it (and counts it in its mean).
    """
    true = matrix.sum(axis=1)
    accuracy = np.zeros(len(matrix))
    np.divide(np.diag(matrix), true, out=accuracy, where=true > 0)
    return accuracy
