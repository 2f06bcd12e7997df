"""The false positives and the missed objects of a detector, by kind; also of regions, and of parts of layouts.

Kinds are those of D. Bolya, S. Foley, J. Hays and J. Hoffman, "TIDE: A General Toolbox for Identifying Object Detection
Errors", ECCV 2020, section 2.2. Results are matched as the evaluation does, which differs from TIDE's program: a
detection never falls back to another object because the best one is already matched. Difficult objects do not
count here: what matches them is ignored, and what nearly does counts as background. Only if the metric that ranks
counts them, as `average_precision_with_difficult` does, they are objects like others.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.diagnosis.overlaps import (
    MostOverlapped,
    Overlaps,
    of_detections,
    of_parts,
    of_regions,
    overlaps,
    similar_to,
)
from vocboard.evaluator.evidence.ranked_evidence import MatchedResults
from vocboard.evaluator.metrics.boxes import is_enough
from vocboard.evaluator.metrics.precision_recall import Judgement, by_confidence
from vocboard.evaluator.names import Metric
from vocboard.evaluator.results import Entry, Layouts
from vocboard.evaluator.rules import Edition, LayoutProtocol, Overlap
from vocboard.evaluator.tasks.definitions import overlap_of
from vocboard.evaluator.tasks.detection.scoring import match
from vocboard.evaluator.tasks.detection.truth import DetectionTruth
from vocboard.evaluator.tasks.instance_segmentation.scoring import match_regions
from vocboard.evaluator.tasks.instance_segmentation.truth import InstanceTruth
from vocboard.evaluator.tasks.layout.parts import judge_parts
from vocboard.evaluator.tasks.layout.people import people_by_index
from vocboard.evaluator.tasks.layout.truth import LayoutTruth
from vocboard.evaluator.tasks.truth import Truth

MIN_OVERLAP = 0.1  # below it, a false positive has nothing to do with an object


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
    """The results of one class (or parts of one type) by rank.

    Attributes:
        result: (n,) int64 index of each among the class's results (or all parts).
        image: (n,) int32 index into `ImageSet.images`.
        confidence: (n,) float64, non-increasing.
        judgement: true and false positives.
        overlaps: the objects that they overlap most.
        error: (n,) int8 index into `ERRORS`; −1 for results that are not false positives.
        target: (n,) int64 object that would be found without the error: for errors of location the object of the class
            that is overlapped most, for errors of class that of another class; −1 for all others.
        other_class: (n,) int16 class of the object of another class that is overlapped most; meaningless without one.
        found: (m,) bool, which of `objects` a true positive matches.
    """

    result: NDArray[np.int64]
    image: NDArray[np.int32]
    confidence: NDArray[np.float64]
    judgement: Judgement
    overlaps: Overlaps
    error: NDArray[np.int8]
    target: NDArray[np.int64]
    other_class: NDArray[np.int16]
    found: NDArray[np.bool_]

    @property
    def objects(self) -> NDArray[np.int64]:
        """(m,) the objects of the class that count."""
        return self.overlaps.own


@dataclass(frozen=True, eq=False, slots=True)
class DiagnosedClasses:
    """The results of all classes entered, and what they are compared with.

    Attributes:
        classes: by name, in the order of `names`.
        names: of classes (or parts).
        class_of: (objects,) index into `names` of each object.
        object_image: (objects,) image of each object.
    """

    classes: Mapping[str, Diagnosed]
    names: tuple[str, ...]
    class_of: NDArray[np.integer]
    object_image: NDArray[np.integer]


def diagnose(entry: Entry, truth: Truth, edition: Edition) -> DiagnosedClasses | None:
    """Return the results of each class entered, with the kinds of their errors.

    For layouts, the results are the parts of the most confident layout of each listed person, compared with the parts
    of that person.

    Args:
        entry: detections, regions, or layouts that are scored by parts.
        truth: the objects of all classes.
        edition: the edition, whose overlap rule applies.

    Returns:
        None if there are no such errors: for other tasks, and for layouts of whole people.
    """
    if isinstance(truth, DetectionTruth):
        return _of_matched(entry, truth, edition, match, of_detections)
    if isinstance(truth, InstanceTruth):
        return _of_matched(entry, truth, edition, match_regions, of_regions)
    if isinstance(truth, LayoutTruth) and entry.competition.rules.layout_protocol is LayoutProtocol.PARTS:
        return _parts(entry, truth, edition)
    return None


def _of_matched(
    entry: Entry,
    truth: DetectionTruth | InstanceTruth,
    edition: Edition,
    match_results: Callable[[Any, Any, int], MatchedResults],
    most_overlapped_of: Callable[[Any, NDArray[np.intp], Any], MostOverlapped],
) -> DiagnosedClasses:
    rules = entry.competition.rules
    rule = overlap_of(rules.metric, edition)
    with_difficult = rules.metric is Metric.AVERAGE_PRECISION_WITH_DIFFICULT
    counted = ~truth.difficult | with_difficult
    classes = {}
    for index, name in enumerate(edition.classes):  # the order of the files in the archive changes nothing
        if name in entry.content:
            matched = match_results(entry.content[name], truth, index)
            order = by_confidence(entry.content[name].confidence)
            most_overlapped = most_overlapped_of(entry.content[name], order, truth)
            found = overlaps(most_overlapped, truth.class_index, counted, index, _similar(name, edition))
            judgement = matched.judged(rule, rules, with_difficult=with_difficult).judgement
            by_rank = order, matched.image, matched.confidence
            classes[name] = _of_class(by_rank, judgement, found, truth.class_index, rule)
    return DiagnosedClasses(classes, edition.classes, truth.class_index, truth.image)


def _parts(entry: Entry, truth: LayoutTruth, edition: Edition) -> DiagnosedClasses:
    layouts: Layouts = entry.content
    judged = judge_parts(layouts, truth, edition.overlap, len(edition.parts))
    person = people_by_index(layouts, truth).person
    counted = np.ones(len(truth.part_type), dtype=np.bool_)
    classes = {}
    for index, name in enumerate(edition.parts):
        own = layouts.part_type[judged.part] == index
        part, true = judged.part[own], judged.true[own]
        layout = layouts.part_layout[part]
        found = overlaps(of_parts(layouts, part, person[layout], truth), truth.part_type, counted, index, frozenset())
        judgement = Judgement(true, ~true, int(np.count_nonzero(truth.part_type == index)))
        by_rank = part, layouts.image[layout], layouts.confidence[layout]
        classes[name] = _of_class(by_rank, judgement, found, truth.part_type, edition.overlap)
    return DiagnosedClasses(classes, edition.parts, truth.part_type, truth.image[truth.part_person])


def _of_class(
    by_rank: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]],
    judgement: Judgement,
    found: Overlaps,
    class_of: NDArray[np.integer],
    rule: Overlap,
) -> Diagnosed:
    """Return the results of one class with the kinds of their errors.

    Args:
        by_rank: index, image and confidence of each result.
        judgement: of the same results.
        found: what they overlap.
        class_of: (objects,) class of each object.
        rule: when an overlap is sufficient.
    """
    result, image, confidence = by_rank
    is_location = (found.overlap >= MIN_OVERLAP) & ~is_enough(found.overlap, rule)
    is_class = is_enough(found.overlap_of_others, rule)
    is_duplicate = is_enough(found.overlap, rule)
    is_background = np.maximum(found.overlap, found.overlap_of_others) <= MIN_OVERLAP
    applies = (is_location, is_class, is_duplicate, is_background)
    error = np.select(applies, range(len(applies)), default=len(applies)).astype(np.int8)
    error[~judgement.false] = -1

    target = np.full(len(error), -1, dtype=np.int64)
    located, confused = error == ERRORS.index(Error.LOCATION), error == ERRORS.index(Error.CLASS)
    target[located], target[confused] = found.nearest[located], found.other[confused]
    other_class = np.zeros(len(error), dtype=np.int16)
    if len(class_of):
        other_class = class_of[found.other].astype(np.int16)
    return Diagnosed(
        result=result,
        image=image,
        confidence=confidence,
        judgement=judgement,
        overlaps=found,
        error=error,
        target=target,
        other_class=other_class,
        found=np.isin(found.own, found.nearest[judgement.true]),
    )


def _similar(name: str, edition: Edition) -> frozenset[int]:
    return frozenset(edition.classes.index(each) for each in similar_to(name, edition))
