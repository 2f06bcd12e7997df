"""Accuracies of label maps near boundaries: boundary intersection over union, and accuracy in the trimap.

Void pixels of the ground truth belong to no label, in the result, too. VOC's void bands lie along the boundaries, so
what a result has within them makes no difference.
"""

import math
import threading
from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.confusion_matrix import VOID
from vocboard.evaluator.metrics.label_runs import LabelRuns

STRIP_SHARE = 0.02  # width of the strips of boundary IoU over the diagonal of the image, as in Cheng et al.
TRIMAP_WIDTH = 8  # pixels on each side of a boundary


@dataclass(frozen=True, eq=False, slots=True)
class BoundaryCounts:
    """Pixels near boundaries, by image.

    Attributes:
        labels: number of labels, with background.
        image: (k,) int32 index into `ImageSet.images`.
        label: (k,) uint8 label, 0 for background.
        both: (k,) int64 pixels of the image in the strip of the label both in ground truth and result.
        true: (k,) int64 in that of the ground truth.
        found: (k,) int64 in that of the result.
        trimap_image: (i,) int32 index of each image.
        trimap_pixels: (i,) int64 number of its pixels in the trimap.
        trimap_right: (i,) int64 number of them with the right label.
    """

    labels: int
    image: NDArray[np.int32]
    label: NDArray[np.uint8]
    both: NDArray[np.int64]
    true: NDArray[np.int64]
    found: NDArray[np.int64]
    trimap_image: NDArray[np.int32]
    trimap_pixels: NDArray[np.int64]
    trimap_right: NDArray[np.int64]

    @property
    def trimap(self) -> int:
        """The number of pixels in the trimap."""
        return int(self.trimap_pixels.sum())

    @property
    def trimap_correct(self) -> int:
        """The number of pixels in the trimap with the right label."""
        return int(self.trimap_right.sum())

    @property
    def either(self) -> NDArray[np.int64]:
        """(k,) pixels of the image in the strip of the label in ground truth or result."""
        either: NDArray[np.int64] = self.true + self.found - self.both
        return either

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
        both, either = (np.bincount(self.label, each, self.labels) for each in (self.both, self.either))
        score = np.full(self.labels, np.nan)
        np.divide(both, either, out=score, where=either > 0)
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
        self._labels = classes + 1
        self._image, self._label, self._strips = array("i"), array("B"), array("q")
        self._trimap_image, self._trimap = array("i"), array("q")
        self._adding = threading.Lock()

    def counts(self) -> BoundaryCounts:
        """Return the pixels of all images added."""
        strips = np.array(self._strips, dtype=np.int64).reshape(-1, 3)
        trimap = np.array(self._trimap, dtype=np.int64).reshape(-1, 2)
        return BoundaryCounts(
            labels=self._labels,
            image=np.array(self._image, dtype=np.int32),
            label=np.array(self._label, dtype=np.uint8),
            both=strips[:, 0],
            true=strips[:, 1],
            found=strips[:, 2],
            trimap_image=np.array(self._trimap_image, dtype=np.int32),
            trimap_pixels=trimap[:, 0],
            trimap_right=trimap[:, 1],
        )

    def add(self, image: int, truth: LabelRuns, result: NDArray[np.uint8]) -> None:
        """Count one image's pixels.

        Args:
            image: index of the image.
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
        strips = np.array(
            [
                np.bincount(map_[strip], minlength=self._labels)
                for map_, strip in ((true, true_strip & found_strip & right), (true, true_strip), (found, found_strip))
            ],
            dtype=np.int64,
        )
        shown = np.flatnonzero(strips.any(axis=0))
        trimap = known & near_boundary(true, TRIMAP_WIDTH, edges=False)
        with self._adding:
            self._image.extend([image] * len(shown))
            self._label.extend(shown.tolist())
            self._strips.extend(strips[:, shown].T.ravel().tolist())
            self._trimap_image.append(image)
            self._trimap.extend((int(np.count_nonzero(trimap)), int(np.count_nonzero(trimap & right))))


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
    rows = _windows((label_map[:, 1:] != label_map[:, :-1]).T, 2 * width).T
    near |= _windows(rows, 2 * width + 1)
    near |= _windows(label_map[1:] != label_map[:-1], 2 * width)
    return near


def _windows(flags: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    """Return whether there is a flag in each window of `size` rows, of which `size // 2` can be outside.

    Args:
        flags: (h, w).
        size: even for flags that are between pixels, so that there is a window for each of h + 1 pixels.
    """
    found = np.pad(flags, ((size // 2, size // 2), (0, 0)))
    covered = 1  # rows of each window
    while covered < size:
        step = min(covered, size - covered)
        found = found[:-step] | found[step:]
        covered += step
    return found
