"""Diagnoses single lines of a text file."""

from collections.abc import Sequence
from typing import Any

from vocboard.evaluator.problems import quoted
from vocboard.evaluator.problems.items import IMAGE_IN_ANOTHER_COLUMN, UNKNOWN_PERSON
from vocboard.evaluator.problems.text_files import LINE_TOO_LONG
from vocboard.evaluator.result_files.duplicates import FirstLines
from vocboard.evaluator.result_files.fields import (
    check_class,
    check_confidence,
    column_of_image,
    find_image,
    read_number,
    read_object_index,
)
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.line_format import (
    CLASS,
    CONFIDENCE,
    IMAGE,
    OBJECT,
    LineFormat,
    fields_problem,
)
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.rules import Limits


class LineDiagnosis:
    """Reports the problems of single lines."""

    def __init__(
        self,
        line_format: LineFormat,
        items: Items,
        limits: Limits,
        report: FileReport,
        first_lines: FirstLines | None,
    ):
        """Take the line format, and the first lines of items if items may only have one line."""
        self._format, self._items, self._limits, self._report = line_format, items, limits, report
        self._first_lines = first_lines

    def line(self, number: int, text: str) -> None:
        """Report all problems of a line."""
        limit = self._limits.characters_per_line
        if len(text) > limit:
            self._report.add(LINE_TOO_LONG, number, length=len(text), limit=limit, format=self._format)
            return
        fields = text.split()
        problem = fields_problem(fields, self._format)
        if problem is not None:
            self._report.add(problem[0], number, **problem[1])
            return
        column = column_of_image(fields, self._items)
        if column > 1:
            image = quoted(fields[column - 1])
            self._report.add(IMAGE_IN_ANOTHER_COLUMN, number, image=image, column=column, format=self._format)
            return
        item = self._item(number, fields)
        if item is not None and self._first_lines is not None and self._format.repeated is not None:
            first = self._first_lines.of(item, number)
            if first != number:
                named: dict[str, Any] = {"image": quoted(fields[0]), "object": fields[1]}
                self._report.add(self._format.repeated, number, first=first, **named)
        for name, field in zip(self._format.fields, fields, strict=True):
            if name == CLASS:
                check_class(field, self._format.classes, number, self._report)
            elif name not in {IMAGE, OBJECT}:
                value = read_number(field, name, number, self._limits, self._report)
                if value is not None and name == CONFIDENCE and self._format.confidence_range is not None:
                    check_confidence(field, value, self._format.confidence_range, number, self._report)

    def _item(self, number: int, fields: Sequence[str]) -> int | None:
        image = find_image(fields[0], number, self._items, self._report)
        if not self._format.names_people:
            return image
        index = read_object_index(fields[1], number, self._report)
        if image is None or index is None:
            return None
        person = self._items.persons.position((image, index))
        if person is None:
            self._report.add(
                UNKNOWN_PERSON,
                number,
                object=index,
                image=quoted(fields[0]),
                task=self._items.task,
                listed=lambda: self._items.listed_in(image),
            )
        return person
