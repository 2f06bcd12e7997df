"""Average precision of regions: AP^r of simultaneous detection and segmentation.

As in detection, each region is compared only with the instance of its class and image that it overlaps most (the first
among equals). The most confident region with sufficient overlap is correct; all others are wrong. The overlap is the
intersection over union of pixels, without those that are void in the ground truth.

Source: Hariharan, Arbeláez, Girshick and Malik, "Simultaneous Detection and Segmentation", ECCV 2014, section 2.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.evidence import EvidenceByClass
from vocboard.evaluator.evidence.ranked_evidence import MatchedResults
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.confusion_matrix import VOID
from vocboard.evaluator.metrics.label_runs import LabelRuns
from vocboard.evaluator.metrics.precision_recall import by_confidence
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.instance_segmentation.metrics import BY_CLASS
from vocboard.evaluator.tasks.instance_segmentation.results import Regions
from vocboard.evaluator.tasks.instance_segmentation.truth import InstanceTruth
from vocboard.evaluator.tasks.ranked_scorer import RankedScorer
from vocboard.evaluator.tasks.scorer import LabelMapCounts

_BATCH = 1_000_000  # numbers of pixels, by region, run and label, that are in memory at once


class InstanceSegmentationScorer(RankedScorer[InstanceTruth, MatchedResults]):
    """Scores instance segmentation."""

    by_class = BY_CLASS

    def evidence(
        self, entry: Entry, truth: InstanceTruth, edition: Edition, public: ImageSet, label_maps: LabelMapCounts | None
    ) -> EvidenceByClass[MatchedResults]:
        """Return the matched regions of each class."""
        found = {name: match_regions(entry.content[name], truth, edition.classes.index(name)) for name in entry.classes}
        return EvidenceByClass(len(public.images), found)


def match_regions(regions: Regions, truth: InstanceTruth, class_index: int) -> MatchedResults:
    """Rank one class's regions by decreasing confidence, ties in file order, and match them with instances."""
    own = np.flatnonzero(truth.class_index == class_index)
    [(instance, most)] = most_overlapped(regions, truth, [own])
    rank = by_confidence(regions.confidence)
    return MatchedResults(
        image=regions.image[rank],
        confidence=regions.confidence[rank],
        object=instance[rank],
        overlap=most[rank],
        object_image=truth.image[own],
        object_difficult=np.zeros(len(own), dtype=np.bool_),
    )


def most_overlapped(
    regions: Regions, truth: InstanceTruth, sets: Sequence[NDArray[np.int64]]
) -> list[tuple[NDArray[np.int32], NDArray[np.float64]]]:
    """Return for each region the instance of its image that it overlaps most, the first among equals.

    The pixels of every region are counted, once, also where its image has no instance to compare it with: otherwise,
    how long an evaluation takes would tell which images show a class.

    Args:
        regions: (n,) in any order.
        truth: all instances.
        sets: (m,) indices of instances to compare with, increasing.

    Returns:
        For each set, (n,) indices into it, meaningless where the overlap is 0, and (n,) overlaps.
    """
    found = [(np.zeros(len(regions.image), dtype=np.int32), np.zeros(len(regions.image))) for _ in sets]
    by_image = np.argsort(regions.image, kind="stable")
    for rows in np.split(by_image, np.flatnonzero(np.diff(regions.image[by_image])) + 1):
        if not len(rows):
            continue
        image = int(regions.image[rows[0]])
        label_map = _LabelMap(truth.runs(image))
        for batch in _batches(rows, regions, len(label_map.labels)):
            pixels = label_map.count(regions, batch)
            area = pixels[:, label_map.labels != VOID].sum(axis=1, keepdims=True)
            for (instance, most), own in zip(found, sets, strict=True):
                here = slice(*np.searchsorted(truth.image[own], (image, image + 1)).tolist())
                if here.start == here.stop:
                    continue
                columns = label_map.labels.searchsorted(truth.number[own[here]])
                both = pixels[:, columns]
                overlap = both / (area + label_map.area[columns] - both)
                best = overlap.argmax(axis=1)
                instance[batch] = here.start + best
                most[batch] = overlap[np.arange(len(batch)), best]
    return found


def _batches(rows: NDArray[np.intp], regions: Regions, labels: int) -> list[NDArray[np.intp]]:
    """Split regions into parts that need little memory: at least one region each."""
    stop = regions.run_end[rows]
    runs = stop - np.where(rows == 0, 0, regions.run_end[rows - 1]) + 1
    part = (np.cumsum(runs) * labels) // _BATCH
    return np.split(rows, np.flatnonzero(np.diff(part)) + 1)


class _LabelMap:
    """How many pixels of a map have each label, up to any pixel.

    Attributes:
        labels: (k,) uint8 the labels that occur, increasing.
        area: (k,) number of pixels of each.
    """

    def __init__(self, runs: LabelRuns) -> None:
        """Take the map of an image as runs."""
        self.labels, column = np.unique(runs.label, return_inverse=True)
        self._last = runs.last
        length = np.diff(runs.last, prepend=-1)
        self._before = np.zeros((len(length) + 1, len(self.labels)), dtype=np.int64)
        self._before[np.arange(1, len(length) + 1), column] = length
        self._before.cumsum(axis=0, out=self._before)
        # The pixel after the last one is in a run of its own, of which nothing is counted.
        self._column = np.append(column, 0)
        self._first = np.append(0, runs.last + 1)
        self.area = self._before[-1]

    def count(self, regions: Regions, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return (n, k) the pixels of n regions by label."""
        start = np.where(rows == 0, 0, regions.run_end[rows - 1])
        number = regions.run_end[rows] - start
        end = np.cumsum(number)
        runs = np.arange(number.sum()) + np.repeat(start - (end - number), number)
        inside = self._until(regions.run_stop[runs]) - self._until(regions.run_start[runs])
        total = np.zeros((len(runs) + 1, len(self.labels)), dtype=np.int64)
        inside.cumsum(axis=0, out=total[1:])
        counted: NDArray[np.int64] = total[end] - total[end - number]
        return counted

    def _until(self, pixel: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return (n, k) how many pixels before each of n have each label."""
        run = self._last.searchsorted(pixel)
        found: NDArray[np.int64] = self._before[run]
        found[np.arange(len(run)), self._column[run]] += pixel - self._first[run]
        return found
