"""Reads detection files: one box per line, for one class, or for all with the class at the end.

Source: VOC2010 document section 4.2; ParallelEye detection challenge, section 2.2.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.archives import Member
from vocboard.evaluator.problems import quoted
from vocboard.evaluator.result_files.box_checks import seem_zero_based, warn_of_boxes
from vocboard.evaluator.result_files.columns import Columns, read_columns
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.line_format import CLASS, CONFIDENCE, IMAGE, LineFormat
from vocboard.evaluator.result_files.names import FileName
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Detections
from vocboard.evaluator.rules import Limits
from vocboard.evaluator.tasks.detection.problems import TOO_MANY_DETECTIONS, ZERO_BASED_BOXES
from vocboard.evaluator.tasks.format import FilesByClass

_FIELDS = (IMAGE, CONFIDENCE, "left", "top", "right", "bottom")


class DetectionFiles(FilesByClass[Detections]):
    """Lines `<image> <confidence> <left> <top> <right> <bottom>`; with `<class>` at the end if all are in one file."""

    def take(self, name: FileName, member: Member) -> None:
        """Read the file of one class or of all classes."""
        upload = self.upload
        rules = upload.competition.rules
        if not rules.class_in_lines:
            super().take(name, member)
            return
        by_class = read_detections_by_class(
            member.read(),
            rules.classes,
            upload.items,
            upload.edition.limits,
            upload.new_report(member.name),
            confidence_range=rules.confidence_range,
        )
        self.content.update(by_class or {})

    def read(self, data: bytes, report: FileReport) -> Detections | None:
        """Return the detections of one class."""
        limits, confidence_range = self.upload.edition.limits, self.upload.competition.rules.confidence_range
        return read_detections(data, self.upload.items, limits, report, confidence_range=confidence_range)


def read_detections(
    data: bytes,
    items: Items,
    limits: Limits,
    report: FileReport,
    *,
    confidence_range: tuple[float, float] | None = None,
) -> Detections | None:
    """Return the content of one class's detection file; report problems and return None if it is invalid.

    Boxes that cannot match anything (inverted, or outside their image) cause a warning with their number.
    """
    line_format = LineFormat(_FIELDS, confidence_range=confidence_range)
    columns = read_columns(data, line_format, items, limits, report)
    if columns is None or _too_many_in_an_image(columns.item, items, limits, report):
        return None
    return Detections(image=columns.item, confidence=columns.numbers[0], box=_boxes(columns, items, report))


def read_detections_by_class(
    data: bytes,
    classes: tuple[str, ...],
    items: Items,
    limits: Limits,
    report: FileReport,
    *,
    confidence_range: tuple[float, float] | None = None,
) -> Mapping[str, Detections] | None:
    """Return the content of a detection file with all classes, by class.

    Classes without lines have no detections. Reports problems and returns None if the file is invalid.
    """
    line_format = LineFormat((*_FIELDS, CLASS), classes=classes, confidence_range=confidence_range)
    columns = read_columns(data, line_format, items, limits, report)
    if columns is None:
        return None
    masks = {name: columns.label == index for index, name in enumerate(classes)}
    too_many = [_too_many_in_an_image(columns.item[mask], items, limits, report) for mask in masks.values()]
    if any(too_many):
        return None
    box = _boxes(columns, items, report)
    return {name: Detections(columns.item[mask], columns.numbers[0][mask], box[mask]) for name, mask in masks.items()}


def _boxes(columns: Columns, items: Items, report: FileReport) -> NDArray[np.float64]:
    """Return (n, 4) boxes; report those that cannot match anything."""
    box, line_of = columns.numbers[1:].T, columns.lines.item
    size = None if items.sizes is None else items.sizes.take(columns.item, axis=0)  # `sizes[item]`: ten times as long
    doubtful = warn_of_boxes(box, size, line_of, report, columns.numbers[0])
    if size is not None:
        from_zero = seem_zero_based(box, size) & ~doubtful
        report.warn_of(ZERO_BASED_BOXES, from_zero, line_of, "box", "boxes")
        doubtful |= from_zero
    report.count_doubtful(doubtful)
    return box


def _too_many_in_an_image(item: NDArray[np.int32], items: Items, limits: Limits, report: FileReport) -> bool:
    counts = np.bincount(item, minlength=1)
    too_many = np.flatnonzero(counts > limits.detections_per_image)
    names = items.images.listed() if len(too_many) else []
    for image in too_many.tolist():
        limit = limits.detections_per_image
        report.add(TOO_MANY_DETECTIONS, image=quoted(names[image]), count=int(counts[image]), limit=limit)
    return len(too_many) > 0
