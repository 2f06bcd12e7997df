"""Warns of detections in memory that look wrong as a whole: another format of boxes, missing images, duplicates."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.arrays import problems as kinds
from vocboard.evaluator.arrays.boxes import BoxFormat
from vocboard.evaluator.arrays.values import Values
from vocboard.evaluator.problems import Kind, Share, quoted
from vocboard.evaluator.result_files.box_checks import is_outside, is_upside_down, seem_zero_based
from vocboard.evaluator.result_files.box_convention import ENOUGH, BoxConvention, evidence_of
from vocboard.evaluator.result_files.items import Items

MISSING_IMAGES = 0.1  # of the image set: detectors find something nearly everywhere
DUPLICATES = 0.01  # of the detections
_CONVENTIONS: Mapping[BoxFormat, BoxConvention] = {
    "voc": BoxConvention.CORNERS,
    "xyxy": BoxConvention.CORNERS,
    "xywh": BoxConvention.SIZES,
    "cxcywh": BoxConvention.CENTRES,
}
_FORMATS = {BoxConvention.CORNERS: "xyxy", BoxConvention.SIZES: "xywh", BoxConvention.CENTRES: "cxcywh"}


class GivenDetections(NamedTuple):
    """Detections of all images and classes.

    Attributes:
        image: (n,) position of each image.
        label: (n,) index of each class.
        score: (n,) scores.
        given: (n, 4) boxes as they were given.
        box: (n, 4) boxes in VOC's convention.
    """

    image: NDArray[np.int32]
    label: NDArray[np.int16]
    score: NDArray[np.float64]
    given: NDArray[np.float64]
    box: NDArray[np.float64]


def warn_of_detections(
    found: GivenDetections, items: Items, box_format: BoxFormat, values: Values, *, images_are_complete: bool
) -> None:
    """Report what is wrong with many detections: first the likely cause, or else the boxes that match nothing.

    Args:
        found: the detections of a competition.
        items: test items.
        box_format: format of the boxes as they were given.
        values: collects the warnings.
        images_are_complete: whether every image has an entry, so that one without detections is meant to have none.
    """
    _warn_of_boxes(found, items, box_format, values)
    if items.images.is_known and not images_are_complete:
        total = len(items.images)
        empty = np.flatnonzero(np.bincount(found.image, minlength=total) == 0)
        if len(empty) >= ENOUGH and len(empty) > MISSING_IMAGES * total:
            share = Share(len(empty), total, "image", "images")
            values.report.add(kinds.MISSING_IMAGES, count=share, first=quoted(items.images.listed()[int(empty[0])]))
    duplicates = _duplicates(found)
    number = int(np.count_nonzero(duplicates))
    if number > DUPLICATES * len(duplicates):
        share = Share(number, len(duplicates), "detection", "detections")
        first = items.images.listed()[int(found.image[np.argmax(duplicates)])]
        values.report.add(kinds.DUPLICATES, count=share, first=quoted(first))


def _warn_of_boxes(found: GivenDetections, items: Items, box_format: BoxFormat, values: Values) -> None:
    size = None if items.sizes is None else items.sizes.take(found.image, axis=0)
    stated = _CONVENTIONS[box_format]
    evidence = evidence_of(found.given, size)
    likely = evidence.likely(stated)
    if likely is not None:
        share = Share(evidence.fitting[likely], evidence.boxes, "box", "boxes")
        if likely is BoxConvention.FRACTIONS:
            values.report.add(kinds.BOXES_AS_FRACTIONS, count=share)
        else:
            fitting = f"{evidence.fitting.get(stated, 0):,}"
            form = _FORMATS[likely]
            values.report.add(
                kinds.BOXES_OF_OTHER_FORMAT, count=share, likely=likely, fitting=fitting, stated=stated, form=form
            )
        return

    def warn(kind: Kind, wrong: NDArray[np.bool_]) -> None:
        number = int(np.count_nonzero(wrong))
        if number:
            first = items.images.listed()[int(found.image[np.argmax(wrong)])]
            values.report.add(kind, count=Share(number, len(wrong), "box", "boxes"), first=quoted(first))

    if stated is BoxConvention.CORNERS:
        upside_down = is_upside_down(found.given)
        warn(kinds.BOXES_UPSIDE_DOWN, upside_down)
    else:
        upside_down = (found.given[:, 2] < 0) | (found.given[:, 3] < 0)
        warn(kinds.NEGATIVE_SIZES, upside_down)
    if size is not None:
        warn(kinds.BOXES_OUTSIDE, is_outside(found.box, size) & ~upside_down)
        if box_format == "voc":
            warn(kinds.BOXES_FROM_ZERO, seem_zero_based(found.box, size))


def _duplicates(found: GivenDetections) -> NDArray[np.bool_]:
    """Return (n,) which detections are there before: the same image, class, score and box."""
    columns = [found.image, found.label, found.score, *found.given.T]
    weights = np.random.default_rng(0).uniform(1, 2, len(columns))
    key = np.zeros(len(found.image))
    for weight, column in zip(weights, columns, strict=True):  # equal rows have equal sums, so they are neighbours
        key += weight * column
    order = np.argsort(key, kind="stable")
    before, after = order[:-1], order[1:]
    is_same = key[before] == key[after]
    before, after = before[is_same], after[is_same]
    repeated = np.ones(len(after), dtype=np.bool_)
    for column in columns:
        repeated &= column[before] == column[after]
    duplicates = np.zeros(len(key), dtype=np.bool_)
    duplicates[after[repeated]] = True
    return duplicates
