"""The false positives and the missed objects of a detector, by kind.

Kinds are those of D. Bolya, S. Foley, J. Hays and J. Hoffman, "TIDE: A General Toolbox for Identifying Object Detection
Errors", ECCV 2020, section 2.2. Results are matched as the evaluation does, which differs from TIDE's program: a
detection never falls back to another object because the best one is already matched. Difficult objects are no objects
here: what matches them is ignored, and what nearly does counts as background.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.diagnosis.groups import similar_to
from vocboard.evaluator.metrics.boxes import best_overlapping, is_enough
from vocboard.evaluator.metrics.matches import Matches
from vocboard.evaluator.metrics.precision_recall import by_confidence
from vocboard.evaluator.results import Detections
from vocboard.evaluator.rules import Competition, Edition
from vocboard.evaluator.tasks.detection.scoring import match
from vocboard.evaluator.tasks.detection.truth import DetectionTruth

LEAST_OVERLAP = 0.1  # below it, a false positive has nothing to do with an object


class Error(StrEnum):
    """Why a result is a false positive. The first that applies, in this order."""

    LOCATION = "location"  # overlaps an object of its class, but not enough
    CLASS = "class"  # overlaps an object of another class enough
    DUPLICATE = "duplicate"  # overlaps an object of its class enough, but a more confident result does, too
    BACKGROUND = "background"  # overlaps no object by more than a tenth
    BOTH = "both"  # overlaps an object of another class, but not enough


ERRORS = tuple(Error)


@dataclass(frozen=True, eq=False, slots=True)
class Diagnosed:
    """The results of one class by rank.

    Attributes:
        confidence: (n,) float64, non-increasing.
        image: (n,) int32 index into `ImageSet.images`.
        true: (n,) bool, true positives.
        false: (n,) bool, false positives.
        error: (n,) int8 index into `ERRORS`; −1 for results that are not false positives.
        target: (n,) int64 object that would be found without the error: for errors of location the object of the class
            that is overlapped most, for errors of class that of another class; −1 for all others.
        overlap: (n,) float64 overlap with the object of the class that is overlapped most, difficult ones left out.
        overlap_of_others: (n,) float64 the same for objects of other classes.
        overlap_of_similar: (n,) float64 the same for objects of similar classes.
        other_class: (n,) int16 index of the class of that object; meaningless where the overlap is 0.
        objects: (m,) int64 the objects of the class, difficult ones left out.
        found: (m,) bool, those that a true positive matches.
    """

    confidence: NDArray[np.float64]
    image: NDArray[np.int32]
    true: NDArray[np.bool_]
    false: NDArray[np.bool_]
    error: NDArray[np.int8]
    target: NDArray[np.int64]
    overlap: NDArray[np.float64]
    overlap_of_others: NDArray[np.float64]
    overlap_of_similar: NDArray[np.float64]
    other_class: NDArray[np.int16]
    objects: NDArray[np.int64]
    found: NDArray[np.bool_]


def diagnose(
    content: Mapping[str, Detections], truth: DetectionTruth, edition: Edition, competition: Competition
) -> dict[str, Diagnosed]:
    """Return the results of each class entered, with the kinds of their errors.

    Args:
        content: detections by class.
        truth: the objects of all classes.
        edition: the edition, whose overlap rule applies.
        competition: the competition of the detections.
    """
    return {name: _of_class(content[name], truth, edition, competition, name) for name in content}


def _of_class(
    detections: Detections, truth: DetectionTruth, edition: Edition, competition: Competition, name: str
) -> Diagnosed:
    index = edition.classes.index(name)
    matches: Matches = match(detections, truth, index).matches(
        edition.overlap, repeats_on_difficult_are_false=competition.rules.repeats_on_difficult_are_false
    )
    judgement, order = matches.judge(), by_confidence(detections.confidence)
    box, image = detections.box[order], detections.image[order]
    own = np.flatnonzero((truth.class_index == index) & ~truth.difficult)
    others = np.flatnonzero((truth.class_index != index) & ~truth.difficult)
    nearest, overlap = best_overlapping(box, image, truth.box[own], truth.image[own])
    other, overlap_of_others = best_overlapping(box, image, truth.box[others], truth.image[others])
    alike = [edition.classes.index(each) for each in similar_to(name) if each in edition.classes]
    similar = others[np.isin(truth.class_index[others], alike)]
    _, overlap_of_similar = best_overlapping(box, image, truth.box[similar], truth.image[similar])

    is_location = (overlap >= LEAST_OVERLAP) & ~is_enough(overlap, edition.overlap)
    is_class = is_enough(overlap_of_others, edition.overlap)
    is_duplicate = is_enough(overlap, edition.overlap)
    is_background = np.maximum(overlap, overlap_of_others) <= LEAST_OVERLAP
    applies = (is_location, is_class, is_duplicate, is_background)
    error = np.select(applies, range(len(applies)), default=len(applies)).astype(np.int8)
    error[~judgement.false] = -1

    target = np.full(len(order), -1, dtype=np.int64)
    located, confused = error == ERRORS.index(Error.LOCATION), error == ERRORS.index(Error.CLASS)
    target[located] = own[nearest[located]]
    target[confused] = others[other[confused]]
    of_class = np.flatnonzero(truth.class_index == index)
    found = np.isin(own, of_class[matches.object[judgement.true]])
    other_class = np.zeros(len(order), dtype=np.int16)
    if len(others):
        other_class = truth.class_index[others[other]]
    return Diagnosed(
        confidence=detections.confidence[order],
        image=image,
        true=judgement.true,
        false=judgement.false,
        error=error,
        target=target,
        overlap=overlap,
        overlap_of_others=overlap_of_others,
        overlap_of_similar=overlap_of_similar,
        other_class=other_class,
        objects=own,
        found=found,
    )
