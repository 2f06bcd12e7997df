"""Person layouts in memory: the parts of each person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.arrays import problems as kinds
from vocboard.evaluator.arrays.boxes import to_voc
from vocboard.evaluator.arrays.content import ArrayReader, Arrays
from vocboard.evaluator.arrays.values import Values
from vocboard.evaluator.problems import quoted
from vocboard.evaluator.result_files.fields import MAX_OBJECT_INDEX
from vocboard.evaluator.results import Entry, Layouts
from vocboard.evaluator.rules import LayoutProtocol
from vocboard.evaluator.tasks.layout.checks import warn_of_layouts


@dataclass(slots=True)
class _Columns:
    image: list[int] = field(default_factory=list)
    object: list[int] = field(default_factory=list)
    person_box: list[NDArray[np.float64]] = field(default_factory=list)
    score: list[float] = field(default_factory=list)
    part_layout: list[int] = field(default_factory=list)
    part_type: list[int] = field(default_factory=list)
    part_box: list[NDArray[np.float64]] = field(default_factory=list)


class LayoutArrays(ArrayReader):
    """A sequence of mappings, one for each layout."""

    def read(self, content: object, arrays: Arrays) -> Entry | None:
        """Return the layouts.

        Args:
            content: mappings with `image`; `object`, the object index, or in VOC2007 `person_box`; `score`; `labels`,
                the names of the parts; and `boxes`, (p, 4).
            arrays: collects problems.
        """
        values = arrays.values()
        if not isinstance(content, Sequence) or isinstance(content, str | bytes):
            values.wrong_structure(content, "a list of layouts")
            return None
        by_box = arrays.competition.rules.layout_protocol is LayoutProtocol.WHOLE_PERSON_BY_BOX
        columns = _Columns()
        failed = False
        for index, layout in enumerate(content):
            failed |= not _take(layout, columns, by_box, arrays, arrays.values(index))
        if failed:
            return None
        layouts = Layouts(
            image=np.array(columns.image, dtype=np.int32),
            object=None if by_box else np.array(columns.object, dtype=np.int32),
            person_box=np.array(columns.person_box, dtype=np.float64).reshape(-1, 4) if by_box else None,
            confidence=np.array(columns.score, dtype=np.float64),
            part_layout=np.array(columns.part_layout, dtype=np.int32),
            part_type=np.array(columns.part_type, dtype=np.int8),
            part_box=np.concatenate([np.empty((0, 4)), *columns.part_box]),
        )
        protocol = arrays.competition.rules.layout_protocol
        warn_of_layouts(layouts, protocol, _no_line, _no_line, items=arrays.items, report=values.report)
        return Entry(arrays.competition, arrays.competition.classes, layouts)


def _no_line(_: int) -> None:
    """Do nothing, because arrays have no lines."""


def _take(layout: object, columns: _Columns, by_box: bool, arrays: Arrays, values: Values) -> bool:
    """Add one layout; return whether it is valid."""
    person = "person_box" if by_box else "object"
    if not isinstance(layout, Mapping):
        values.wrong_structure(layout, f"a mapping with 'image', '{person}', 'score', 'labels' and 'boxes'")
        return False
    if not values.has_keys(layout, "image", person, "score", "labels", "boxes"):
        return False
    image = values.images([layout["image"]], arrays.items, name="image")
    score = values.scores(layout["score"], (), arrays.competition.rules.confidence_range, name="score")
    boxes = values.numbers(layout["boxes"], "boxes", (None, 4))
    types = _types(layout["labels"], arrays, values, None if boxes is None else len(boxes))
    if by_box:
        person_box = values.numbers(layout[person], person, (4,))
        index = None
    else:
        person_box, index = None, values.integers(layout[person], person, ())
        if index is not None and not values.none_wrong(
            (index < 1) | (index > MAX_OBJECT_INDEX), index, kinds.BAD_OBJECT_INDEX, person, "index"
        ):
            return False
    if image is None or score is None or boxes is None or types is None or (person_box is None and index is None):
        return False
    limit = arrays.edition.limits.parts_per_layout
    if len(boxes) > limit:
        values.report.add(kinds.TOO_MANY_PARTS, count=len(boxes), limit=limit)
        return False
    columns.part_layout += [len(columns.image)] * len(boxes)
    columns.part_type += types
    columns.part_box.append(to_voc(boxes, arrays.box_format or "voc"))
    columns.image.append(int(image[0]))
    columns.score.append(float(score[0]))
    if person_box is not None:
        columns.person_box.append(to_voc(person_box[None], arrays.box_format or "voc")[0])
    if index is not None:
        columns.object.append(int(index[0]))
    return True


def _types(value: object, arrays: Arrays, values: Values, length: int | None) -> list[int] | None:
    """Return the index of each part's type."""
    names = values.texts(value, "labels", length)
    parts = arrays.edition.parts
    if names is None:
        return None
    found = np.array([parts.index(name) if name in parts else -1 for name in names], dtype=np.int64)
    given = np.array([quoted(name) for name in names], dtype=object)
    is_not_class = "is not a class" if np.count_nonzero(found < 0) == 1 else "are not classes"
    expected = f"parts are {', '.join(parts)}"
    if not values.none_wrong(
        found < 0, given, kinds.UNKNOWN_LABEL, "labels", "label", expected=expected, is_not_class=is_not_class
    ):
        return None
    return [int(index) for index in found]
