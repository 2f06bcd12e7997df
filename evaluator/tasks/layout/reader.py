"""Reads person layout files in XML.

Plain files are read with a regular expression; other files, and files with errors, element by element, for precise
messages.

Source: VOC2010 document section 6.2; the VOC2007 kit for people who are named by their box.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from vocboard.evaluator.result_files.fields import check_confidence
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Layouts
from vocboard.evaluator.rules import LayoutProtocol, Limits
from vocboard.evaluator.tasks.layout.checks import warn_of_layouts
from vocboard.evaluator.tasks.layout.elements import Box, ElementReader
from vocboard.evaluator.tasks.layout.plain_files import line_of, read_plain_layouts
from vocboard.evaluator.tasks.layout.problems import TOO_MANY_PARTS
from vocboard.evaluator.tasks.layout.xml import Element, Shape, XmlError, children_of_root

_DEEPEST = 5  # results, layout, part, bndbox, xmin
_ELEMENTS_OF_A_PART = 7  # part, class, bndbox and its four sides
_OTHER_ELEMENTS = 20  # image, person, confidence; and some that are wrong


@dataclass(slots=True)
class _Columns:
    """The layouts read so far; `line` and `part_line` are their lines in the file."""

    image: list[int] = field(default_factory=list)
    object: list[int] = field(default_factory=list)
    person_box: list[Box] = field(default_factory=list)
    confidence: list[float] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    part_layout: list[int] = field(default_factory=list)
    part_type: list[int] = field(default_factory=list)
    part_box: list[Box] = field(default_factory=list)
    part_line: list[int] = field(default_factory=list)


def read_layouts(
    data: bytes,
    protocol: LayoutProtocol | None,
    parts: Sequence[str],
    *,
    items: Items,
    limits: Limits,
    report: FileReport,
    confidence_range: tuple[float, float] | None = None,
) -> Layouts | None:
    """Return the content of a layout file; report problems and return None if it is invalid.

    Repeated layouts of a person, layouts of unlisted people, and boxes that cannot match anything cause warnings.

    Args:
        data: the file.
        protocol: determines how people are identified: by object index, or in VOC2007 by box.
        parts: part types of the edition.
        items: of the layout test set.
        limits: limits for numbers and parts.
        report: collects the problems.
        confidence_range: minimum and maximum confidence; None for any.
    """
    by_box = protocol is LayoutProtocol.WHOLE_PERSON_BY_BOX
    plain = read_plain_layouts(data, by_box, parts, items, limits, confidence_range=confidence_range)
    if plain is not None:
        layout_line, part_line = partial(line_of, data, "layout"), partial(line_of, data, "part")
        warn_of_layouts(plain, protocol, layout_line, part_line, items=items, report=report)
        return plain
    columns = _LayoutColumns(protocol, parts, items, limits, report, confidence_range=confidence_range)
    most = limits.parts_per_layout * _ELEMENTS_OF_A_PART + _OTHER_ELEMENTS
    try:
        for element in children_of_root(data, Shape("results", _DEEPEST, most, limits.characters_per_line)):
            columns.take(element)
            if report.has_enough:
                report.stop(element.line)
                break
    except XmlError as error:
        report.add(error.kind, error.line, **error.found)
    return None if report.has_errors else columns.finish()


class _LayoutColumns:
    """Reads the layouts."""

    def __init__(
        self,
        protocol: LayoutProtocol | None,
        parts: Sequence[str],
        items: Items,
        limits: Limits,
        report: FileReport,
        *,
        confidence_range: tuple[float, float] | None,
    ):
        self._protocol, self._by_box = protocol, protocol is LayoutProtocol.WHOLE_PERSON_BY_BOX
        self._items, self._limits, self._report, self._range = items, limits, report, confidence_range
        self._read = ElementReader(parts, items, limits, report)
        self._columns = _Columns()

    def take(self, element: Element) -> None:
        """Read one layout, and report its problems."""
        if element.name != "layout":
            self._read.out_of_place(element, "results", ("layout",))
            return
        columns, layout = self._columns, len(self._columns.image)
        self._take_person(element)
        parts = [child for child in element.children if child.name == "part"]
        if len(parts) > self._limits.parts_per_layout:
            limit = self._limits.parts_per_layout
            self._report.add(TOO_MANY_PARTS, element.line, count=len(parts), limit=limit)
            return
        for child in parts:
            part = self._read.part(child)
            if part is not None:
                columns.part_layout.append(layout)
                columns.part_type.append(part[0])
                columns.part_box.append(part[1])
                columns.part_line.append(child.line)

    def finish(self) -> Layouts:
        """Report warnings, and return all layouts."""
        columns = self._columns
        layouts = Layouts(
            image=np.array(columns.image, dtype=np.int32),
            object=None if self._by_box else np.array(columns.object, dtype=np.int32),
            person_box=np.array(columns.person_box, dtype=np.float64).reshape(-1, 4) if self._by_box else None,
            confidence=np.array(columns.confidence, dtype=np.float64),
            part_layout=np.array(columns.part_layout, dtype=np.int32),
            part_type=np.array(columns.part_type, dtype=np.int8),
            part_box=np.array(columns.part_box, dtype=np.float64).reshape(-1, 4),
        )
        line, part_line = columns.line.__getitem__, columns.part_line.__getitem__
        warn_of_layouts(layouts, self._protocol, line, part_line, items=self._items, report=self._report)
        return layouts

    def _take_person(self, element: Element) -> None:
        columns, person_name = self._columns, "bndbox" if self._by_box else "object"
        children = self._read.children(element, ("image", person_name, "confidence"), repeatable="part")
        image = self._read.image(children.get("image"))
        person_box = self._read.box(children.get("bndbox"))
        person = self._read.object_index(children.get("object"))
        stated = children.get("confidence")
        confidence = self._read.number(stated)
        if stated is not None and confidence is not None and self._range is not None:
            check_confidence(stated.text.strip(), confidence, self._range, stated.line, self._report)
        if image is None or confidence is None:
            return
        if person_box is not None:
            columns.person_box.append(person_box)
        elif person is not None:
            columns.object.append(person)
        else:
            return
        columns.image.append(image)
        columns.confidence.append(confidence)
        columns.line.append(element.line)
