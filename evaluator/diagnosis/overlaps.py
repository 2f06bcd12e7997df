"""Which objects the results of a class overlap most: of their own class, of other classes, and of similar ones.

Similar classes look alike, so that confusing them is a milder error; edition files define them. Source: D. Hoiem, Y.
Chodpathumwan and Q. Dai, "Diagnosing Error in Object Detectors", ECCV 2012, section 2.1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.boxes import best_overlapping
from vocboard.evaluator.results import Detections, Layouts
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.detection.truth import DetectionTruth
from vocboard.evaluator.tasks.instance_segmentation.results import Regions
from vocboard.evaluator.tasks.instance_segmentation.scoring import most_overlapped
from vocboard.evaluator.tasks.instance_segmentation.truth import InstanceTruth
from vocboard.evaluator.tasks.layout.truth import LayoutTruth

Sets = Sequence[NDArray[np.int64]]  # indices of objects

# For each set, the object that each result overlaps most, and the overlap; see `best_overlapping`.
MostOverlapped = Callable[[Sets], list[tuple[NDArray[np.int64], NDArray[np.float64]]]]


@dataclass(frozen=True, eq=False, slots=True)
class Overlaps:
    """The objects that the results of one class overlap most, of those that count.

    Attributes:
        own: (m,) the objects of the class.
        nearest: (n,) the one that each result overlaps most, by rank; meaningless where the overlap is 0.
        overlap: (n,) float64 overlap with it.
        other: (n,) the object of another class that is overlapped most.
        overlap_of_others: (n,) float64 overlap with it.
        overlap_of_similar: (n,) float64 the same for objects of similar classes.
    """

    own: NDArray[np.int64]
    nearest: NDArray[np.int64]
    overlap: NDArray[np.float64]
    other: NDArray[np.int64]
    overlap_of_others: NDArray[np.float64]
    overlap_of_similar: NDArray[np.float64]


def overlaps(
    most_overlapped_of: MostOverlapped,
    class_of: NDArray[np.integer],
    counted: NDArray[np.bool_],
    index: int,
    similar: frozenset[int],
) -> Overlaps:
    """Return the overlaps of the results of one class.

    Args:
        most_overlapped_of: compares the results, by rank, with each of some sets of objects.
        class_of: (objects,) class of each object.
        counted: (objects,) bool, whether the object counts.
        index: the class.
        similar: the classes that are similar to it.
    """
    own = np.flatnonzero((class_of == index) & counted)
    others = np.flatnonzero((class_of != index) & counted)
    (nearest, overlap), (other, overlap_of_others), (_, overlap_of_similar) = most_overlapped_of(
        [own, others, others[np.isin(class_of[others], list(similar))]]
    )
    return Overlaps(own, nearest, overlap, other, overlap_of_others, overlap_of_similar)


def of_boxes(
    box: NDArray[np.float64],
    group: NDArray[np.integer],
    true_box: NDArray[np.float64],
    true_group: NDArray[np.integer],
) -> MostOverlapped:
    """Return a function that compares boxes with those of the same group (image or person)."""

    def most(sets: Sets) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        found = [best_overlapping(box, group, true_box[objects], true_group[objects]) for objects in sets]
        return [
            (objects[best] if len(objects) else best, overlap)
            for objects, (best, overlap) in zip(sets, found, strict=True)
        ]

    return most


def of_detections(detections: Detections, order: NDArray[np.intp], truth: DetectionTruth) -> MostOverlapped:
    """Return a function that compares detections in some order with objects."""
    return of_boxes(detections.box[order], detections.image[order], truth.box, truth.image)


def of_parts(
    layouts: Layouts, part: NDArray[np.int64], person: NDArray[np.int64], truth: LayoutTruth
) -> MostOverlapped:
    """Return a function that compares parts with those of the same person.

    Args:
        layouts: of the parts.
        part: (n,) which parts.
        person: (n,) whose they are.
        truth: the people.
    """
    return of_boxes(layouts.part_box[part], person, truth.part_box, truth.part_person)


def of_regions(regions: Regions, order: NDArray[np.intp], truth: InstanceTruth) -> MostOverlapped:
    """Return a function that compares regions in some order with instances."""

    def most(sets: Sets) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        return [
            (objects[best[order]] if len(objects) else best[order].astype(np.int64), overlap[order])
            for objects, (best, overlap) in zip(sets, most_overlapped(regions, truth, sets), strict=True)
        ]

    return most


def similar_to(name: str, edition: Edition) -> frozenset[str]:
    """Return the other classes of the groups of a class."""
    return frozenset().union(*(group for group in edition.similar_classes if name in group)) - {name}
