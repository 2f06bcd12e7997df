"""Classification and action files: one confidence an image, or a person.

Source: VOC2010 document sections 3.3 and 7.2.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import Limits
from vocboard.evaluator.problems import counted, quoted
from vocboard.evaluator.problems.text_files import IMAGES_WITHOUT_CONFIDENCE, PERSONS_WITHOUT_CONFIDENCE
from vocboard.evaluator.result_files.columns import read_columns
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.line_format import CONFIDENCE, IMAGE, OBJECT, LineFormat
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Confidences

_OF_IMAGES = LineFormat((IMAGE, CONFIDENCE), once=True)
_OF_PEOPLE = LineFormat((IMAGE, OBJECT, CONFIDENCE), once=True)


def read_confidences(
    data: bytes,
    items: Items,
    limits: Limits,
    report: FileReport,
    *,
    of_people: bool = False,
    confidence_range: tuple[float, float] | None = None,
) -> Confidences | None:
    """Return the content of a classification or action file; None, and problems reported, if it is not valid.

    A test item without a line is worth a warning only: it ranks last.
    """
    line_format = replace(_OF_PEOPLE if of_people else _OF_IMAGES, confidence_range=confidence_range)
    columns = read_columns(data, line_format, items, limits, report)
    if columns is None:
        return None
    if len(columns.item):
        _warn_of_missing(columns.item, items, report, of_people=of_people)
    return Confidences(item=columns.item, confidence=columns.numbers[0])


def _warn_of_missing(item: NDArray[np.int32], items: Items, report: FileReport, *, of_people: bool) -> None:
    if items.image_set is None:
        return
    listed = items.listed_persons if of_people else items.image_set.images
    if listed is None:
        return
    missing = np.flatnonzero(np.bincount(item, minlength=len(listed)) == 0)
    if not len(missing):
        return
    has = "has" if len(missing) == 1 else "have"
    if of_people:
        image, person = items.name_of(int(missing[0]))
        report.add(
            PERSONS_WITHOUT_CONFIDENCE,
            count=counted(len(missing), "person", "people"),
            all=len(listed),
            has=has,
            object=person,
            first=quoted(image),
        )
    else:
        report.add(
            IMAGES_WITHOUT_CONFIDENCE,
            count=counted(len(missing), "image"),
            all=len(listed),
            has=has,
            first=quoted(items.images.listed()[int(missing[0])]),
        )
