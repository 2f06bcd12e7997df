"""Average precision of regions: AP^r of simultaneous detection and segmentation.

As in detection, each region is compared only with the instance of its class and image that it overlaps most (the first
among equals). The most confident region with sufficient overlap is correct; all others are wrong. The overlap is the
intersection over union of pixels, without those that are void in the ground truth.

Source: Hariharan, Arbeláez, Girshick and Malik, "Simultaneous Detection and Segmentation", ECCV 2014, section 2.
"""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.confusion_matrix import LABELS, VOID
from vocboard.evaluator.metrics.label_runs import LabelRuns
from vocboard.evaluator.metrics.precision_recall import Judgement, by_confidence
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Edition, Overlap
from vocboard.evaluator.statistics.evidence import EvidenceByClass
from vocboard.evaluator.statistics.ranked_evidence import MatchedResults
from vocboard.evaluator.tasks.instance_segmentation.metrics import BY_CLASS, BY_ENTRY
from vocboard.evaluator.tasks.instance_segmentation.results import Regions
from vocboard.evaluator.tasks.instance_segmentation.truth import InstanceTruth
from vocboard.evaluator.tasks.ranked_classes import RankedClass
from vocboard.evaluator.tasks.ranked_scorer import RankedScorer
from vocboard.evaluator.tasks.scorer import LabelMapCounts


class InstanceSegmentationScorer(RankedScorer[InstanceTruth, MatchedResults]):
    """Scores instance segmentation."""

    by_class = BY_CLASS
    by_entry = BY_ENTRY

    def evidence(
        self, entry: Entry, truth: InstanceTruth, edition: Edition, public: ImageSet, label_maps: LabelMapCounts | None
    ) -> EvidenceByClass[MatchedResults]:
        """Return the matched regions of each class."""
        found = {name: BestOverlaps(entry.content[name], truth, edition.classes.index(name)) for name in entry.classes}
        return EvidenceByClass(len(public.images), {name: overlaps.matched for name, overlaps in found.items()})

    def numbers(self, entry: Entry, name: str, ranked: RankedClass[MatchedResults]) -> tuple[int, int]:
        """Return the number of regions; no instance is difficult."""
        return len(ranked.results.image), 0


class BestOverlaps:
    """The instance that each region of one class overlaps most.

    Attributes:
        matched: the regions in rank order, with these instances.
    """

    def __init__(self, regions: Regions, truth: InstanceTruth, class_index: int) -> None:
        """Compare the regions of one class with its instances."""
        self._rank = by_confidence(regions.confidence)
        own = np.flatnonzero(truth.class_index == class_index)
        instance, most = most_overlapped(regions, truth, own)
        self.matched = MatchedResults(
            image=regions.image[self._rank],
            confidence=regions.confidence[self._rank],
            object=instance[self._rank],
            overlap=most[self._rank],
            object_image=truth.image[own],
            object_difficult=np.zeros(len(own), dtype=np.bool_),
        )

    def judge(self, rule: Overlap) -> Judgement:
        """Classify each region as true or false positive, in rank order."""
        return self.matched.matches(rule).judge()

    @property
    def rank(self) -> NDArray[np.intp]:
        """(n,) index of each region, by decreasing confidence."""
        return self._rank


def most_overlapped(
    regions: Regions, truth: InstanceTruth, own: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return for each region the instance of its image that it overlaps most, the first among equals.

    Args:
        regions: (n,) in any order.
        truth: all instances.
        own: (m,) indices of the instances to compare with, increasing.

    Returns:
        (n,) indices into `own`, meaningless where the overlap is 0, and (n,) overlaps.
    """
    instance = np.zeros(len(regions.image), dtype=np.int32)
    most = np.zeros(len(regions.image))
    first, stop = (np.searchsorted(truth.image[own], regions.image, side=side) for side in ("left", "right"))
    for image in np.unique(regions.image[first < stop]).tolist():
        runs = truth.runs(image)
        area = np.bincount(runs.label, weights=np.diff(runs.last, prepend=-1), minlength=LABELS)
        for region in np.flatnonzero(regions.image == image).tolist():
            here = slice(first[region], stop[region])
            numbers = truth.number[own[here]]
            mine = regions.runs(region)
            pixels = _pixels_by_label(runs, regions.run_start[mine], regions.run_stop[mine])
            both = pixels[numbers]
            overlap = both / (pixels[:VOID].sum() + area[numbers] - both)
            best = int(np.argmax(overlap))
            instance[region] = here.start + best
            most[region] = overlap[best]
    return instance, most


def _pixels_by_label(runs: LabelRuns, start: NDArray[np.int64], stop: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (256,) the number of pixels of a region by label.

    Args:
        runs: the map of labels.
        start: (k,) first pixels of the region's runs, increasing.
        stop: (k,) the pixel after the last of each.
    """
    edges = np.concatenate((start, stop, runs.last + 1))
    edges.sort()
    first = edges[:-1]
    inside = start.searchsorted(first, side="right") > stop.searchsorted(first, side="right")
    label = runs.label[runs.last.searchsorted(first[inside])]
    pixels: NDArray[np.float64] = np.bincount(label, weights=np.diff(edges)[inside], minlength=LABELS)  # type: ignore[assignment]  # stubs ignore weights
    return pixels
