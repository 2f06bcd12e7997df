"""Reads action files: one confidence per person.

Source: VOC2010 document section 7.2.
"""

import numpy as np

from vocboard.evaluator.problems import counted, quoted
from vocboard.evaluator.result_files.columns import read_columns
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.line_format import CONFIDENCE, IMAGE, OBJECT, LineFormat
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Confidences
from vocboard.evaluator.rules import Limits
from vocboard.evaluator.tasks.action.problems import PERSONS_WITHOUT_CONFIDENCE, REPEATED_PERSON
from vocboard.evaluator.tasks.format import FilesByClass


class ActionFiles(FilesByClass[Confidences]):
    """Lines `<image> <object index> <confidence>`."""

    def read(self, data: bytes, report: FileReport) -> Confidences | None:
        """Return the confidences of one action."""
        limits, confidence_range = self.upload.edition.limits, self.upload.competition.rules.confidence_range
        return read_people(data, self.upload.items, limits, report, confidence_range=confidence_range)


def read_people(
    data: bytes,
    items: Items,
    limits: Limits,
    report: FileReport,
    *,
    confidence_range: tuple[float, float] | None = None,
) -> Confidences | None:
    """Return the content of an action file; None, and problems reported, if it is not valid.

    A person without a line is worth a warning only: they rank last.
    """
    line_format = LineFormat((IMAGE, OBJECT, CONFIDENCE), repeated=REPEATED_PERSON, confidence_range=confidence_range)
    columns = read_columns(data, line_format, items, limits, report)
    if columns is None:
        return None
    listed = items.listed_persons
    if items.image_set is not None and listed is not None and 0 < len(columns.item) < len(listed):
        missing = np.flatnonzero(np.bincount(columns.item, minlength=len(listed)) == 0)  # no person has two lines
        image, person = items.name_of(int(missing[0]))
        report.add(
            PERSONS_WITHOUT_CONFIDENCE,
            count=counted(len(missing), "person", "people"),
            all=len(listed),
            has="has" if len(missing) == 1 else "have",
            object=person,
            first=quoted(image),
        )
    return Confidences(item=columns.item, confidence=columns.numbers[0])
