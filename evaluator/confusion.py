"""Confusion matrices of label maps, and the accuracies taken from them.

Source: VOC development kits, VOCevalseg.m (2007: share of the true pixels; 2008 on: intersection over union);
VOC2010 document section 5.4.
"""

import threading

import numpy as np
from numpy.typing import NDArray

VOID = 255  # truth label of pixels that are left out
LABELS = 256
PIXELS_AT_ONCE = 65536


class Confusion:
    """Counts pixels by true and found label, pair after pair of label maps, from as many threads as there are.

    Attributes:
        matrix: (n + 1, n + 1) int64 pixels; rows truth, columns result, background first.
    """

    def __init__(self, classes: int) -> None:
        """Start with no pixel counted, for this number of classes besides background."""
        self.matrix: NDArray[np.int64] = np.zeros((classes + 1, classes + 1), dtype=np.int64)
        self._adding = threading.Lock()

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
        n = len(self.matrix)
        counts = _count_pairs(result.ravel(), truth.ravel(), n)
        if counts is None or counts[:, n:VOID].any():
            raise ValueError(f"a label map holds labels other than 0 to {n - 1}")
        with self._adding:
            self.matrix += counts[:, :n].T


def _count_pairs(result: NDArray[np.uint8], truth: NDArray[np.uint8], n: int) -> NDArray[np.int64] | None:
    """Return (n, 256) pixels by found and true label; None if a found one is not among the first n.

    A piece at a time: arrays of a whole image are so large that the system hands out and takes back their memory for
    each image anew, which costs more than counting.
    """
    counts = np.zeros(n * LABELS, dtype=np.int64)
    buffer = np.empty(min(PIXELS_AT_ONCE, len(truth)), dtype=np.intp)
    for start in range(0, len(truth), PIXELS_AT_ONCE):
        piece = truth[start : start + PIXELS_AT_ONCE]
        pairs = np.multiply(result[start : start + PIXELS_AT_ONCE], LABELS, out=buffer[: len(piece)], dtype=np.intp)
        pairs += piece
        counted = np.bincount(pairs, minlength=len(counts))
        if len(counted) > len(counts):
            return None
        counts += counted
    return counts.reshape(n, LABELS)


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
