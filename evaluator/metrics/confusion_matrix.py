"""Confusion matrices of label maps, and accuracies computed from them.

Source: VOC development kits, VOCevalseg.m (2007: share of the true pixels; 2008 on: intersection over union);
VOC2010 document section 5.4.
"""

import threading
from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.label_runs import LabelRuns, changes

VOID = 255  # true label of ignored pixels
LABELS = 256
PIXELS_A_RUN = 8  # pixels per run below which counting pixels is faster than counting runs
PIXELS_AT_ONCE = 65536
BEFORE_FIRST = np.array([-1])  # index before an image's first pixel


@dataclass(frozen=True, eq=False, slots=True)
class ImageConfusions:
    """The confusion matrices of all images, without the zeros.

    Attributes:
        image: (k,) int32 index into `ImageSet.images`, non-decreasing.
        true: (k,) uint8 true label, 0 for background.
        found: (k,) uint8 label of the result.
        pixels: (k,) int64 number of pixels, positive.
    """

    image: NDArray[np.int32]
    true: NDArray[np.uint8]
    found: NDArray[np.uint8]
    pixels: NDArray[np.int64]

    def matrix(self, labels: int) -> NDArray[np.int64]:
        """Return the (labels, labels) matrix of all images; rows are ground truth, background first."""
        matrix = np.zeros((labels, labels), dtype=np.int64)
        np.add.at(matrix, (self.true, self.found), self.pixels)
        return matrix

    def images_by_label(self, labels: int) -> NDArray[np.int64]:
        """Return the (labels,) number of images with each true label, background first."""
        shown = np.zeros((1 + int(self.image.max(initial=-1)), labels), dtype=np.bool_)
        shown[self.image, self.true] = True
        images: NDArray[np.int64] = np.count_nonzero(shown, axis=0)
        return images


class Confusion:
    """Counts the pixels of each image by true and predicted label. Thread-safe."""

    def __init__(self, classes: int) -> None:
        """Start without images; labels are those of this number of classes, and background."""
        self._labels = classes + 1
        # Of all images, one after another in the order in which they come. Arrays of each image would stay between the
        # pixels of one image and the next, and keep the memory of all pixels from being used again.
        self._image, self._pair, self._pixels = array("i"), array("H"), array("q")
        self._adding = threading.Lock()

    def by_image(self) -> ImageConfusions:
        """Return the matrix of each image, void left out.

        Raises:
            ValueError: the ground truth has a label other than 0 to n and void.
        """
        image, pair = np.array(self._image, dtype=np.int32), np.array(self._pair, dtype=np.uint16)
        true, pixels = pair % LABELS, np.array(self._pixels, dtype=np.int64)
        if ((true >= self._labels) & (true != VOID)).any():
            raise ValueError(f"a true label map holds labels other than 0 to {self._labels - 1}")
        counted = np.flatnonzero(true != VOID)
        counted = counted[np.argsort(image[counted], kind="stable")]
        return ImageConfusions(
            image=image[counted],
            true=true[counted].astype(np.uint8),
            found=(pair // LABELS)[counted].astype(np.uint8),
            pixels=pixels[counted],
        )

    def add(self, image: int, truth: LabelRuns, result: NDArray[np.uint8]) -> None:
        """Count one image's pixels, except those that are void in the ground truth.

        Args:
            image: index of the image.
            truth: labels: 0 background, 1 to n classes, 255 void.
            result: (height, width) labels 0 to n.

        Raises:
            ValueError: the maps differ in shape, or the result has another label.
        """
        if truth.shape != result.shape:
            raise ValueError(f"label maps of {truth.shape} and {result.shape} pixels (height, width)")
        possible = self._labels * LABELS
        counts = _count_pairs(truth, result.ravel(), possible)
        if len(counts) > possible:
            raise ValueError(f"a label map holds labels other than 0 to {self._labels - 1}")
        pairs = counts.nonzero()[0]
        with self._adding:
            self._image.extend([image] * len(pairs))
            self._pair.frombytes(pairs.astype(np.uint16).tobytes())
            self._pixels.frombytes(counts[pairs].astype(np.int64).tobytes())


def _count_pairs(truth: LabelRuns, result: NDArray[np.uint8], pairs: int) -> NDArray[np.float64]:
    """Return (k,) pixel counts by 256 * predicted + true label; k is greater than `pairs` if there are other labels."""
    changing = changes(result)
    if len(changing) * PIXELS_A_RUN > len(result):
        return _count_pixels(truth.pixels().ravel(), result, pairs)
    # A run with a constant pair of labels ends where either map changes.
    ends = np.concatenate((BEFORE_FIRST, changing, truth.last))
    ends.sort(kind="stable")  # merges sorted runs
    last = ends[1:]
    pair = np.multiply(result[last], LABELS, dtype=np.intp)
    pair += truth.label[truth.last.searchsorted(last)]
    pixels = np.subtract(last, ends[:-1], dtype=np.float64)
    counts: NDArray[np.float64] = np.bincount(pair, weights=pixels)  # type: ignore[assignment]  # stubs ignore weights
    return counts


def _count_pixels(truth: NDArray[np.uint8], result: NDArray[np.uint8], pairs: int) -> NDArray[np.float64]:
    """Do the same pixel by pixel for noisy maps, in pieces, to limit memory."""
    counts = np.zeros(pairs)
    for start in range(0, len(truth), PIXELS_AT_ONCE):
        pair = np.multiply(result[start : start + PIXELS_AT_ONCE], LABELS, dtype=np.intp)
        pair += truth[start : start + PIXELS_AT_ONCE]
        counted = np.bincount(pair, minlength=pairs)
        if len(counted) > pairs:
            return counted.astype(np.float64)
        counts += counted
    return counts


def intersection_over_union(matrix: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each label's TP / (TP + FP + FN), the accuracy from VOC2008 on.

    Args:
        matrix: (n, n) pixels, rows truth, columns result.

    Returns:
        (n,) fractions; NaN for labels in neither ground truth nor result.
    """
    correct = np.diag(matrix)
    union = matrix.sum(axis=0) + matrix.sum(axis=1) - correct
    accuracy = np.full(len(matrix), np.nan)
    np.divide(correct, union, out=accuracy, where=union > 0)
    return accuracy


def overall_pixel_accuracy(matrix: NDArray[np.int64]) -> float:
    """Return the share of all pixels that are labelled correctly.

    Source: J. Long, E. Shelhamer and T. Darrell, "Fully Convolutional Networks for Semantic Segmentation", CVPR 2015,
    section 5.

    Args:
        matrix: (n, n) pixels, rows truth, columns result.

    Returns:
        A fraction; NaN without pixels.
    """
    total = int(matrix.sum())
    return int(np.trace(matrix)) / total if total else float("nan")


def frequency_weighted_iou(matrix: NDArray[np.int64]) -> float:
    """Return the mean IoU of labels, weighted by their share of the true pixels.

    Source: the same as of `overall_pixel_accuracy`.

    Args:
        matrix: (n, n) pixels, rows truth, columns result.

    Returns:
        A fraction; NaN without pixels.
    """
    true = matrix.sum(axis=1)
    shown = true > 0
    if not shown.any():
        return float("nan")
    return float(np.average(intersection_over_union(matrix)[shown], weights=true[shown]))
