"""Lines of white-space separated fields as columns: an image, perhaps an object index, and numbers.

Read at once; only if that finds anything wrong are the lines walked one by one, to say precisely what and where.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.catalogue.lines import (
    EMPTY_FILE,
    LINE_TOO_LONG,
    REPEATED_IMAGE,
    REPEATED_PERSON,
    UNKNOWN_PERSON,
)
from evaluator.editions import Limits
from evaluator.problems import quoted
from evaluator.result_files.fields import (
    LARGEST_OBJECT_INDEX,
    find_image,
    is_plain,
    read_number,
    read_object_index,
)
from evaluator.result_files.items import Items
from evaluator.result_files.line_format import IMAGE, OBJECT, LineFormat, field_count_problem
from evaluator.result_files.report import FileReport
from evaluator.result_files.text import Lines, read_lines

_LINES_AT_ONCE = 100_000  # as Python objects a line takes some hundred bytes a field


@dataclass(frozen=True, eq=False, slots=True)
class Columns:
    """The lines of a valid file.

    Attributes:
        item: (n,) int32 position of the image, or of the person.
        numbers: (k, n) float64, finite: one row for each field that is a number.
        lines: (n,) 1-based line numbers.
    """

    item: NDArray[np.int32]
    numbers: NDArray[np.float64]
    lines: Sequence[int]


def read_columns(
    data: bytes, line_format: LineFormat, items: Items, limits: Limits, report: FileReport
) -> Columns | None:
    """Return the columns of a text file; None, and problems reported, if any line is wrong."""
    lines = read_lines(data, limits, report)
    if lines is None:
        return None
    if not lines.texts:
        report.add(EMPTY_FILE)
    columns = _read_at_once(lines, line_format, items, limits)
    if columns is None:
        _explain(lines, line_format, items, limits, report)
        if not report.has_errors:
            raise AssertionError(f"{report.file}: columns were refused without a reason")
    return columns


def _read_at_once(lines: Lines, line_format: LineFormat, items: Items, limits: Limits) -> Columns | None:
    item, numbers = [], []
    for start in range(0, max(len(lines.texts), 1), _LINES_AT_ONCE):
        block = _read_block(lines.texts[start : start + _LINES_AT_ONCE], line_format, items, limits)
        if block is None:
            return None
        item.append(block[0])
        numbers.append(block[1])
    columns = Columns(np.concatenate(item), np.concatenate(numbers, axis=1), lines.numbers)
    if line_format.once and np.bincount(columns.item, minlength=1).max() > 1:
        return None
    return columns


def _read_block(
    texts: Sequence[str], line_format: LineFormat, items: Items, limits: Limits
) -> tuple[NDArray[np.int32], NDArray[np.float64]] | None:
    """Return (n,) positions and (k, n) numbers of some lines; None if any is wrong."""
    if max(map(len, texts), default=0) > limits.characters_per_line:
        return None
    rows = [text.split() for text in texts]
    width = len(line_format.fields)
    if any(len(row) != width for row in rows):
        return None
    fields = list(zip(*rows, strict=True)) or [()] * width
    first_number = 2 if line_format.names_people else 1
    numbers = [_numbers(field, limits) for field in fields[first_number:]]
    if any(column is None for column in numbers):
        return None
    item = _persons(fields[0], fields[1], items) if line_format.names_people else items.images.positions(fields[0])
    return None if item is None else (item, np.array(numbers, dtype=np.float64).reshape(len(numbers), len(rows)))


def _numbers(field: Sequence[str], limits: Limits) -> NDArray[np.float64] | None:
    if not is_plain("".join(field)):
        return None
    try:
        values = np.fromiter(map(float, field), dtype=np.float64, count=len(field))
    except ValueError:
        return None
    # A comparison with NaN is false, so this refuses NaN and the infinities too.
    return values if bool((np.abs(values) <= limits.absolute_number).all()) else None


def _persons(images: Sequence[str], indices: Sequence[str], items: Items) -> NDArray[np.int32] | None:
    image = items.images.positions(images)
    if image is None or not ("".join(indices).isascii() and all(map(str.isdecimal, indices))):
        return None
    if max(map(len, indices), default=0) > len(str(LARGEST_OBJECT_INDEX)):
        return None
    index = list(map(int, indices))
    if not all(0 < number <= LARGEST_OBJECT_INDEX for number in index):
        return None
    return items.persons.positions(zip(image.tolist(), index, strict=True))


def _explain(lines: Lines, line_format: LineFormat, items: Items, limits: Limits, report: FileReport) -> None:
    explainer = _Explainer(line_format, items, limits, report)
    for number, text in zip(lines.numbers, lines.texts, strict=True):
        explainer.line(number, text)


class _Explainer:
    """Says what is wrong with each line."""

    def __init__(self, line_format: LineFormat, items: Items, limits: Limits, report: FileReport):
        self._format, self._items, self._limits, self._report = line_format, items, limits, report
        self._first_line: dict[int, int] = {}

    def line(self, number: int, text: str) -> None:
        limit = self._limits.characters_per_line
        if len(text) > limit:
            self._report.add(LINE_TOO_LONG, number, length=len(text), limit=limit, format=self._format)
            return
        fields = text.split()
        if len(fields) != len(self._format.fields):
            kind, found = field_count_problem(fields, self._format)
            self._report.add(kind, number, **found)
            return
        item = self._item(number, fields)
        if item is not None and self._format.once:
            self._check_once(number, item, fields)
        for name, field in zip(self._format.fields, fields, strict=True):
            if name not in {IMAGE, OBJECT}:
                read_number(field, name, number, self._limits, self._report)

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

    def _check_once(self, number: int, item: int, fields: Sequence[str]) -> None:
        first = self._first_line.setdefault(item, number)
        if first == number:
            return
        if self._format.names_people:
            kind = REPEATED_PERSON
            self._report.add(kind, number, object=fields[1], image=quoted(fields[0]), first=first)
        else:
            self._report.add(REPEATED_IMAGE, number, image=quoted(fields[0]), first=first)
