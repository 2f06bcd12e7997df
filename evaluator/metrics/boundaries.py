"""Accuracies of label maps near boundaries: boundary intersection over union, and accuracy in the trimap.

Void pixels of the ground truth belong to no label, in the result, too. VOC's void bands lie along the boundaries, so
what a result has within them makes no difference.
"""

import math
import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.confusion_matrix import VOID
from vocboard.evaluator.metrics.label_runs import LabelRuns

STRIP_SHARE = 0.02  # width of the strips of boundary IoU over the diagonal of the image, as in Cheng et al.
TRIMAP_WIDTH = 8  # pixels on each side of a boundary


@dataclass(frozen=True, eq=False, slots=True)
class BoundaryCounts:
    """Pixels near boundaries, of all images.

    Attributes:
        both: (n + 1,) int64 pixels in the strip of a label both in ground truth and result, background first.
        true: (n + 1,) int64 in that of the ground truth.
        found: (n + 1,) int64 in that of the result.
        trimap: number of pixels in the trimap.
        trimap_correct: number of them with the right label.
    """

    both: NDArray[np.int64]
    true: NDArray[np.int64]
    found: NDArray[np.int64]
    trimap: int
    trimap_correct: int

    def boundary_iou(self) -> NDArray[np.float64]:
        """Return the boundary IoU of each label.

        The strip of a label has its pixels within 2 % of the diagonal of the boundary of the label, or of the edge of
        the image. The intersection of the strips of ground truth and result over their union, both summed over all
        images as the IoU is; the authors evaluate masks of single objects.

        Source: B. Cheng, R. Girshick, P. Dollár, A. C. Berg and A. Kirillov, "Boundary IoU: Improving Object-Centric
        Image Segmentation Evaluation", CVPR 2021.

        Returns:
            (n + 1,) fractions; NaN for labels in neither ground truth nor result.
        """
        either = self.true + self.found - self.both
        score = np.full(len(either), np.nan)
        np.divide(self.both, either, out=score, where=either > 0)
        return score

    def trimap_accuracy(self) -> float:
        """Return the share of pixels within 8 pixels of a true boundary that have the right label; NaN without any.

        Boundaries are those between labels, and between labels and void; edges of images are none.

        Source: P. Kohli, L. Ladický and P. H. S. Torr, "Robust Higher Order Potentials for Enforcing Label
        Consistency", IJCV 2009, section 5 (for several widths).
        """
        return self.trimap_correct / self.trimap if self.trimap else float("nan")


class Boundaries:
    """Counts pixels near boundaries. Thread-safe."""

    def __init__(self, classes: int) -> None:
        """Start without images, for this number of classes plus background."""
        self._strips = np.zeros((3, classes + 1), dtype=np.int64)
        self._trimap = np.zeros(2, dtype=np.int64)
        self._adding = threading.Lock()

    def counts(self) -> BoundaryCounts:
        """Return the pixels of all images added."""
        both, true, found = self._strips.copy()
        return BoundaryCounts(both, true, found, *self._trimap.tolist())

    def add(self, truth: LabelRuns, result: NDArray[np.uint8]) -> None:
        """Count one image's pixels.

        Args:
            truth: labels: 0 background, 1 to n classes, 255 void.
            result: (height, width) labels 0 to n, of the same shape.
        """
        true = truth.pixels()
        known = true != VOID
        found = np.where(known, result, np.uint8(VOID))
        width = max(1, round(STRIP_SHARE * math.hypot(*true.shape)))
        true_strip = known & near_boundary(true, width, edges=True)
        found_strip = known & near_boundary(found, width, edges=True)
        right = true == found
        labels = self._strips.shape[1]
        strips = [
            np.bincount(map_[strip], minlength=labels)
            for map_, strip in ((true, true_strip & found_strip & right), (true, true_strip), (found, found_strip))
        ]
        trimap = known & near_boundary(true, TRIMAP_WIDTH, edges=False)
        with self._adding:
            self._strips += np.array(strips)
            self._trimap += np.count_nonzero(trimap), np.count_nonzero(trimap & right)


def near_boundary(label_map: NDArray[np.uint8], width: int, *, edges: bool) -> NDArray[np.bool_]:
    """Return which pixels have another label within a square of 2 * width + 1 pixels around them.

    These are the pixels that `width` erosions of their label's mask by 3 x 3 pixels remove.

    Args:
        label_map: (height, width) labels.
        width: in pixels, at least 1.
        edges: whether what is outside the image has another label.

    >>> near_boundary(np.array([[1, 1, 1, 2]], dtype=np.uint8), 1, edges=False).tolist()
    [[False, False, True, True]]
    """
    height, across = label_map.shape
    near = np.zeros((height, across), dtype=np.bool_)
    if edges:
        near[:width] = near[max(0, height - width) :] = True
        near[:, :width] = near[:, max(0, across - width) :] = True
    # A square has one label if each of its rows has, and its middle column.
    rows = _windows(label_map[:, 1:] != label_map[:, :-1], width, axis=1)
    near |= _windows(rows, width, axis=0, reach=1)
    near |= _windows(label_map[1:] != label_map[:-1], width, axis=0)
    return near


def _windows(flags: NDArray[np.bool_], width: int, axis: int, reach: int = 0) -> NDArray[np.bool_]:
    """Return whether there is a flag within a distance.

    Args:
        flags: (h, w); along the axis, either of pixels (`reach` 1), or of steps from each pixel to the next (0).
        width: greatest distance in pixels.
        axis: of the distance.
        reach: see `flags`.
    """
    pixels = flags.shape[axis] + (0 if reach else 1)
    shape = list(flags.shape)
    shape[axis] += 1
    total = np.zeros(shape, dtype=np.int32)
    inner = (slice(None),) * axis + (slice(1, None),)
    np.cumsum(flags, axis=axis, dtype=np.int32, out=total[inner])
    place = np.arange(pixels)
    before = np.maximum(place - width, 0)
    after = np.minimum(place + width + reach, flags.shape[axis])
    found: NDArray[np.bool_] = total.take(after, axis=axis) != total.take(before, axis=axis)
    return found
