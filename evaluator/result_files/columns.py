"""Reads lines of white-space separated fields as columns: an image, optionally an object index, and numbers.

Large, plain files are read by a columnar reader, others in blocks of some thousands of lines. Only blocks with errors
are read line by line, for precise messages.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.problems.text_files import EMPTY_FILE
from vocboard.evaluator.result_files.duplicates import FirstLines
from vocboard.evaluator.result_files.fields import MAX_OBJECT_INDEX, is_plain
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.large_files import (
    LARGE_BYTES,
    MAX_BYTES_AFTER_ERRORS,
    is_large_and_plain,
    parts_of,
    read_part,
    smaller_parts_of,
)
from vocboard.evaluator.result_files.line_diagnosis import LineDiagnosis
from vocboard.evaluator.result_files.line_format import CONFIDENCE, LineFormat
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.result_files.text import Lines, line_count, read_lines, without_blank
from vocboard.evaluator.rules import Limits

_LINES_EXPLAINED = 256  # lines around an error that are read one by one
_MARK = " \ud800 "  # replaces line ends when fields are split; does not occur in decoded UTF-8


@dataclass(frozen=True, eq=False, slots=True)
class Columns:
    """The lines of a valid file.

    Attributes:
        item: (n,) int32 position of the image or person; read-only.
        numbers: (k, n) float64, finite: one row for each numeric field.
        lines: (n,) int32 1-based line numbers.
        label: (n,) int16 index of the class in the format's classes; None if lines have no class.
    """

    item: NDArray[np.int32]
    numbers: NDArray[np.float64]
    lines: NDArray[np.int32]
    label: NDArray[np.int16] | None = None


def read_columns(
    data: bytes, line_format: LineFormat, items: Items, limits: Limits, report: FileReport
) -> Columns | None:
    """Return the columns of a text file; report problems and return None if any line is invalid."""
    reader = _Reader(line_format, items, limits, report)
    is_plain = _is_for_column_reader(line_format, items) and is_large_and_plain(data, limits)
    if not (is_plain and reader.take_plain(data)):
        blocks = read_lines(data, limits, report)
        if blocks is None:
            return None
        reader.take_lines(blocks)
    if report.has_errors:
        report.lines = line_count(data)
        return None
    return reader.columns()


def _is_for_column_reader(line_format: LineFormat, items: Items) -> bool:
    return not line_format.names_class and (items.listed_persons is not None or not line_format.names_people)


class _Reader:
    """Reads block after block, until there are too many problems."""

    def __init__(self, line_format: LineFormat, items: Items, limits: Limits, report: FileReport):
        self._format, self._items, self._limits, self._report = line_format, items, limits, report
        self._first_lines = None if line_format.repeated is None else FirstLines()
        self._explainer = LineDiagnosis(line_format, items, limits, report, self._first_lines)
        self._taken: list[Columns] = []

    def take_plain(self, data: bytes) -> bool:
        """Read a large, plain file, and report problems.

        Returns:
            False if nothing was read, because a line of a file of less than `LARGE_BYTES` is wrong: whether it is tried
            depends on what the process has imported, so the line reader reports its problems.
        """
        if len(data) < LARGE_BYTES:
            return self._take_part(data, 1) > 0
        self._take_parts(parts_of(data), 1)
        return True

    def take_lines(self, blocks: Iterable[Lines]) -> None:
        """Read blocks of lines, and report problems."""
        for lines in blocks:
            self._take(lines)
            if self._report.has_enough:
                return

    def columns(self) -> Columns:
        """Return the columns of a valid file."""
        if not self._taken:
            self._report.add(EMPTY_FILE)
            numbers = len(self._format.fields[self._format.numbers])
            nothing = np.empty(0, dtype=np.int32)
            label = np.empty(0, dtype=np.int16) if self._format.names_class else None
            return Columns(nothing, np.empty((numbers, 0)), nothing, label)
        taken, self._taken = self._taken, []
        if len(taken) == 1:
            return taken[0]
        count = sum(len(block.item) for block in taken)
        values = np.empty((len(taken[0].numbers), count))
        item, lines = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
        label = np.empty(count, dtype=np.int16) if self._format.names_class else None
        end = count
        while taken:  # each block is freed immediately, so that data are not in memory twice
            block = taken.pop()
            place = slice(end - len(block.item), end)
            item[place], values[:, place], lines[place] = block.item, block.numbers, block.lines
            if label is not None and block.label is not None:
                label[place] = block.label
            end = place.start
        return Columns(item, values, lines, label)

    def _take(self, lines: Lines) -> None:
        if self._keep(_columns(lines, self._format, self._items, self._limits)):
            return
        for start in range(0, len(lines), _LINES_EXPLAINED):
            part = lines.part(start, start + _LINES_EXPLAINED)
            if not self._keep(_columns(part, self._format, self._items, self._limits)):
                self._explain(part)
            if self._report.has_enough:
                self._report.stop(part.numbers[-1])
                return

    def _take_parts(self, parts: Iterable[bytes], first: int) -> None:
        """Read parts, starting at line `first`; split parts with errors into smaller ones."""
        for part in parts:
            is_tried = len(part) <= MAX_BYTES_AFTER_ERRORS or not self._report.has_errors
            count = self._take_part(part, first) if is_tried else 0
            if not count:
                count = part.count(b"\n")
                smaller = smaller_parts_of(part)
                if smaller is not None:
                    self._take_parts(smaller, first)
                else:
                    self.take_lines(without_blank(part.decode("ascii").removesuffix("\n").split("\n"), first))
            if self._report.has_enough:
                return
            first += count

    def _take_part(self, part: bytes, first: int) -> int:
        """Return the number of lines read; 0 if any is invalid."""
        names, numbers = self._format.names, len(self._format.fields[self._format.numbers])
        plain = read_part(part, names, numbers, self._items, self._limits)
        if plain is None or not _are_in_range(plain.numbers, self._format):
            return 0
        lines = np.arange(first, first + len(plain.item), dtype=np.int32)
        return len(lines) if self._keep(Columns(plain.item, plain.numbers, lines)) else 0

    def _keep(self, columns: Columns | None) -> bool:
        """Add valid columns, unless they contain an item that already has a line."""
        if columns is None:
            return False
        if self._first_lines is not None and not self._first_lines.add(columns.item, columns.lines):
            return False
        if not self._report.has_errors:  # otherwise not needed
            self._taken.append(columns)
        return True

    def _explain(self, lines: Lines) -> None:
        before = self._report.errors
        for number, text in zip(lines.numbers, lines.texts, strict=True):
            self._explainer.line(number, text)
        if self._report.errors == before:
            raise AssertionError(f"{self._report.file}: lines from {lines.numbers[0]} were refused without a reason")


def _columns(lines: Lines, line_format: LineFormat, items: Items, limits: Limits) -> Columns | None:
    """Return lines as columns; None if any is invalid."""
    if max(map(len, lines.texts)) > limits.characters_per_line:
        return None
    count, width = len(lines), len(line_format.fields) + 1
    fields = _MARK.join((*lines.texts, "")).split()
    mark = _MARK.strip(" ")
    if len(fields) != count * width or fields[width - 1 :: width].count(mark) != count or fields.count(mark) != count:
        return None
    columns = [fields[place::width] for place in range(width - 1)]
    values = _values(columns[line_format.numbers], line_format, limits)
    label = _labels(columns[-1], line_format.classes) if line_format.names_class else None
    if values is None or (line_format.names_class and label is None):
        return None
    item = _persons(columns[0], columns[1], items) if line_format.names_people else items.images.positions(columns[0])
    if item is None:
        return None
    return Columns(item, values, np.array(lines.numbers, dtype=np.int32), label)


def _values(columns: Sequence[Sequence[str]], line_format: LineFormat, limits: Limits) -> NDArray[np.float64] | None:
    """Return the (k, n) numeric fields; None if any is not a number or exceeds its limits."""
    numbers = [_numbers(column, limits) for column in columns]
    if any(column is None for column in numbers):
        return None
    values = np.array(numbers, dtype=np.float64).reshape(len(columns), -1)
    return values if _are_in_range(values, line_format) else None


def _are_in_range(values: NDArray[np.float64], line_format: LineFormat) -> bool:
    """Whether all confidences, a row of (k, n) numbers, are in the challenge's range."""
    if line_format.confidence_range is None or CONFIDENCE not in line_format.fields:
        return True
    confidences = values[line_format.fields[line_format.numbers].index(CONFIDENCE)]
    least, greatest = line_format.confidence_range
    return bool(confidences.min() >= least and confidences.max() <= greatest)


def _labels(field: Sequence[str], classes: Sequence[str]) -> NDArray[np.int16] | None:
    position = {name: index for index, name in enumerate(classes)}
    found = list(map(position.get, field))
    return None if None in found else np.array(found, dtype=np.int16)


def _numbers(field: Sequence[str], limits: Limits) -> NDArray[np.float64] | None:
    if not is_plain("".join(field)):
        return None
    try:
        values = np.fromiter(map(float, field), dtype=np.float64, count=len(field))
    except ValueError:
        return None
    # Comparisons with NaN are false, so this also rejects NaN and infinities.
    return values if bool((np.abs(values) <= limits.absolute_number).all()) else None


def _persons(images: Sequence[str], indices: Sequence[str], items: Items) -> NDArray[np.int32] | None:
    image = items.images.positions(images)
    if image is None or not ("".join(indices).isascii() and all(map(str.isdecimal, indices))):
        return None
    if max(map(len, indices), default=0) > len(str(MAX_OBJECT_INDEX)):
        return None
    index = list(map(int, indices))
    if not all(0 < number <= MAX_OBJECT_INDEX for number in index):
        return None
    return items.persons.positions(zip(image.tolist(), index, strict=True))
