"""Detections on pages of `vocboard view`."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.diagnosis.errors import Diagnosed
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.boxes import is_enough
from vocboard.evaluator.results import Detections, Entry
from vocboard.evaluator.tasks.detection.rows import DetectionRows
from vocboard.evaluator.tasks.detection.scoring import match
from vocboard.evaluator.tasks.detection.truth import DetectionTruth
from vocboard.evaluator.viewing.entries import NO_OBJECT, Page, ResultRows, ResultView, unjudged
from vocboard.evaluator.viewing.marks import marks_of


class DetectionView(ResultView):
    """Detections: boxes."""

    kinds = ("correct", "wrong", "duplicate", "location", "confused", "both", "background", "ignored", "missed")

    def rows(self, entry: Entry, image_set: ImageSet, page: Page) -> Iterator[ResultRows]:
        """Yield the detections by confidence, with the objects that they are compared with."""
        truth = page.truth_of(entry.competition)
        diagnosed = page.diagnosed(entry)
        for rows in DetectionRows().rows(entry, page.edition, image_set):
            index, name = rows.class_index, page.edition.classes[rows.class_index]
            mark, matched = unjudged(len(rows.source))
            if isinstance(truth, DetectionTruth):
                mark = marks_of(diagnosed[name])
                place_of = np.append(page.detected[entry.competition.image_set], NO_OBJECT)  # the last for "none"
                matched = place_of[_objects_of(entry.content[name], truth, index, diagnosed[name], page.edition)]
            yield ResultRows.of(rows, mark, matched)


def _objects_of(
    found: Detections, truth: DetectionTruth, index: int, diagnosed: Diagnosed, edition: Edition
) -> NDArray[np.int64]:
    """Return (n,) the object that each detection of a class is compared with, by rank; `NO_OBJECT` for none."""
    best = match(found, truth, index)
    enough = is_enough(best.overlap, edition.overlap)
    matched = diagnosed.target.copy()
    matched[enough] = np.flatnonzero(truth.class_index == index)[best.object[enough]]
    return matched
