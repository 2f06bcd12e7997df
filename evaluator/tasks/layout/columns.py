"""Columns of person layout: people and their parts."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.results import Entry, Layouts
from vocboard.evaluator.rules import LayoutProtocol
from vocboard.evaluator.tasks.content_columns import (
    Columns,
    ContentColumns,
    Known,
    check_finite,
    check_index,
    check_lengths,
    check_sorted,
)


class LayoutColumns(ContentColumns):
    """The layouts, followed by their parts."""

    def arrays(self, entry: Entry) -> Mapping[str, NDArray[Any]]:
        """Return the columns; of `object` and `person_box` the one that there is."""
        layouts: Layouts = entry.content
        columns = {
            "image": layouts.image,
            "object": layouts.object,
            "person_box": layouts.person_box,
            "confidence": layouts.confidence,
            "part_layout": layouts.part_layout,
            "part_type": layouts.part_type,
            "part_box": layouts.part_box,
        }
        return {name: column for name, column in columns.items() if column is not None}

    def content(self, classes: tuple[str, ...], columns: Columns, known: Known) -> Layouts:
        """Return the layouts."""
        by_box = known.competition.rules.layout_protocol is LayoutProtocol.WHOLE_PERSON_BY_BOX
        read = Layouts(
            image=columns.array("image", np.int32),
            object=None if by_box else columns.array("object", np.int32),
            person_box=columns.array("person_box", np.float64, columns=4) if by_box else None,
            confidence=columns.array("confidence", np.float64),
            part_layout=columns.array("part_layout", np.int32),
            part_type=columns.array("part_type", np.int8),
            part_box=columns.array("part_box", np.float64, columns=4),
        )
        check_lengths(read.image, read.confidence)
        check_lengths(read.part_layout, read.part_type, read.part_box)
        check_index("image", read.image, known.images)
        check_index("part_layout", read.part_layout, len(read.image))
        check_sorted("part_layout", read.part_layout)
        check_index("part_type", read.part_type, len(known.edition.parts))
        check_finite("confidence", read.confidence)
        check_finite("part_box", read.part_box)
        if read.object is not None:
            check_lengths(read.image, read.object)
            check_index("object", read.object, np.iinfo(np.int32).max)
        if read.person_box is not None:
            check_lengths(read.image, read.person_box)
            check_finite("person_box", read.person_box)
        return read
