"""Marks of detections, from the evaluation's own matching.

Kinds of error follow D. Hoiem et al., "Diagnosing Error in Object Detectors", ECCV 2012: a duplicate, poor
localisation (overlap of a tenth with an object of the class, but not enough), a confusion with another class,
background.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import Competition, Edition
from vocboard.evaluator.ground_truth import DetectionTruth
from vocboard.evaluator.metrics.boxes import best_overlapping, is_enough
from vocboard.evaluator.metrics.precision_recall import by_confidence
from vocboard.evaluator.results import Detections
from vocboard.evaluator.tasks.detection.scoring import match

MIN_OVERLAP = 0.1  # with an object of the class, for a false detection to count as poor localisation


class Mark(IntEnum):
    """How a result counts. The numbers are used in the page's data."""

    UNJUDGED = 0
    CORRECT = 1
    IGNORED = 2
    DUPLICATE = 3
    LOCATION = 4
    CONFUSED = 5
    BACKGROUND = 6
    POSITIVE = 7  # for confidences, which are neither correct nor wrong
    NEGATIVE = 8
    WRONG = 9  # without a kind of error

    @property
    def title(self) -> str:
        """What the mark is called."""
        return {Mark.LOCATION: "poor localisation", Mark.CONFUSED: "another class"}.get(self, self.name.lower())


@dataclass(frozen=True, eq=False, slots=True)
class Marked:
    """Marks of one class's detections, by decreasing confidence.

    Attributes:
        order: (n,) index into the class's `Detections`.
        mark: (n,) uint8 of `Mark`.
        object: (n,) int64 index into the truth of the object that a detection is compared with; −1 for none.
    """

    order: NDArray[np.intp]
    mark: NDArray[np.uint8]
    object: NDArray[np.int64]


def mark_detections(
    detections: Detections, truth: DetectionTruth, class_index: int, edition: Edition, competition: Competition
) -> Marked:
    """Judge one class's detections as `detection.score` does, and classify the wrong ones."""
    best = match(detections, truth, class_index)
    repeats_are_false = competition.rules.repeats_on_difficult_are_false
    matches = best.matches(edition.overlap, repeats_on_difficult_are_false=repeats_are_false)
    judgement, order = matches.judge(), by_confidence(detections.confidence)
    box, image = detections.box[order], detections.image[order]
    of_class = np.flatnonzero(truth.class_index == class_index)
    nearest, overlap = best.object, best.overlap
    others = np.flatnonzero(truth.class_index != class_index)
    other, overlap_of_other = best_overlapping(box, image, truth.box[others], truth.image[others])

    wrong = judgement.false & ~matches.enough
    located = wrong & (overlap >= MIN_OVERLAP)
    confused = wrong & ~located & is_enough(overlap_of_other, edition.overlap)
    mark = np.full(len(order), Mark.BACKGROUND, dtype=np.uint8)
    mark[confused] = Mark.CONFUSED
    mark[located] = Mark.LOCATION
    mark[judgement.false & matches.enough] = Mark.DUPLICATE
    mark[matches.ignored & ~judgement.false] = Mark.IGNORED
    mark[judgement.true] = Mark.CORRECT

    matched = np.full(len(order), -1, dtype=np.int64)
    matched[matches.enough] = of_class[matches.object[matches.enough]]
    matched[located] = of_class[nearest[located]]
    matched[confused] = others[other[confused]]
    return Marked(order, mark, matched)
