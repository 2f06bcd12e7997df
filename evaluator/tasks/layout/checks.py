"""Warnings about valid layout files: layouts and boxes that cannot match anything."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.problems.text_files import EMPTY_FILE
from vocboard.evaluator.result_files.box_checks import warn_of_boxes
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Layouts
from vocboard.evaluator.rules import LayoutProtocol
from vocboard.evaluator.tasks.layout.problems import REPEATED_LAYOUT, UNLISTED_PERSON

LineOf = Callable[[int], int | None]

# How several layouts of one person are scored. (VOC2007 matches people by box, so they are unknown here.)
_OF_SEVERAL: Mapping[LayoutProtocol | None, str] = {
    LayoutProtocol.PARTS: "only the most confident one of each person is scored",
    LayoutProtocol.WHOLE_PERSON_BY_INDEX: "all are scored, at most one of each person can be right",
    LayoutProtocol.WHOLE_PERSON_BY_INDEX_IN_FILE_ORDER: "all are scored, at most one of each person can be right",
}


def warn_of_layouts(
    layouts: Layouts,
    protocol: LayoutProtocol | None,
    line_of_layout: LineOf,
    line_of_part: LineOf,
    *,
    items: Items,
    report: FileReport,
) -> None:
    """Report an empty file, repeated layouts, layouts of unlisted people, and boxes that cannot match anything.

    Args:
        layouts: all of the file.
        protocol: determines how several layouts of a person are scored.
        line_of_layout: returns the line of a layout, by its index.
        line_of_part: returns the line of a part, by its index.
        items: of the layout test set.
        report: collects the warnings, each once, at the line of the first.
    """

    if not len(layouts.image):
        report.add(EMPTY_FILE)
    doubtful = np.zeros(len(layouts.image), dtype=np.bool_)
    if layouts.object is not None:
        repeated, unlisted = _people(layouts.image, layouts.object, items)
        report.warn_of(REPEATED_LAYOUT, repeated, line_of_layout, "layout", scored=_OF_SEVERAL[protocol])
        report.warn_of(UNLISTED_PERSON, unlisted, line_of_layout, "layout")
        doubtful |= repeated | unlisted
    size = None if items.sizes is None else items.sizes[layouts.image[layouts.part_layout]]
    parts = warn_of_boxes(layouts.part_box, size, line_of_part, report)
    doubtful[layouts.part_layout[parts]] = True
    report.count_doubtful(doubtful)


def _people(
    image: NDArray[np.int32], index: NDArray[np.int32], items: Items
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which layouts are repeated, and which are of unlisted people."""
    unlisted = np.zeros(len(image), dtype=np.bool_)
    if items.persons.is_known:
        unlisted[:] = [person not in items.persons for person in zip(image.tolist(), index.tolist(), strict=True)]
    repeated = ~unlisted
    _, first = np.unique(image.astype(np.int64) << 32 | index, return_index=True)
    repeated[first] = False
    return repeated, unlisted
