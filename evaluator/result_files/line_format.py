"""Line formats of text files, and diagnosis of lines with a wrong number of fields."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vocboard.evaluator.problems import Kind, counted
from vocboard.evaluator.problems.boxes import BOX_MISSING
from vocboard.evaluator.problems.items import OBJECT_INDEX_MISSING
from vocboard.evaluator.problems.text_files import CONFIDENCE_MISSING, WRONG_NUMBER_OF_FIELDS, WRONG_SEPARATOR

IMAGE = "image"
OBJECT = "object index"
CONFIDENCE = "confidence"
CLASS = "class"
RLE = "RLE"

# Commas last: where fields are separated by something else, numbers may have decimal commas.
_SEPARATORS = {";": "semicolons", "|": "vertical bars", ",": "commas"}
_ROW_NUMBER = "a row number, which must not be there (pandas: `index=False, header=False`)"
_DETECTION_FIELDS = 6
_WITHOUT_CONFIDENCE = 5


@dataclass(frozen=True, slots=True)
class LineFormat:
    """The format of a line.

    Attributes:
        fields: names of the fields: `IMAGE`, optionally `OBJECT`, the confidence and other numbers, optionally `CLASS`.
        repeated: the problem of a second line about the same image or person; None if there may be several.
        classes: allowed values of `CLASS`.
        confidence_range: minimum and maximum confidence; None for any.
    """

    fields: tuple[str, ...]
    repeated: Kind | None = None
    classes: tuple[str, ...] = ()
    confidence_range: tuple[float, float] | None = None

    @property
    def names_people(self) -> bool:
        """Whether lines refer to people, not images."""
        return OBJECT in self.fields

    @property
    def names(self) -> int:
        """Number of leading fields that identify the item; numbers follow."""
        return 2 if self.names_people else 1

    @property
    def names_class(self) -> bool:
        """Whether lines end with a class."""
        return CLASS in self.fields

    @property
    def numbers(self) -> slice:
        """Position of the numbers in the fields."""
        return slice(self.names, len(self.fields) - self.names_class)

    @property
    def has_box(self) -> bool:
        """Whether lines have a box."""
        return "bottom" in self.fields

    def __str__(self) -> str:
        return " ".join(f"<{field}>" for field in self.fields)


def fields_problem(fields: Sequence[str], expected: LineFormat) -> tuple[Kind, dict[str, Any]] | None:
    """Return the kind of problem of how a line is divided into fields, and the fields of its message; None if right."""
    found: dict[str, Any] = {"format": expected}
    mark = next((mark for mark in _SEPARATORS if _is_divided_by(mark, fields, expected)), None)
    if mark is not None:
        has_commas = mark != "," and any("," in field for field in fields)
        also = ", and numbers have decimal commas, which must be points" if has_commas else ""
        if _begins_with_row_number(_parts(mark, fields), expected):
            also += f", after {_ROW_NUMBER}"
        return WRONG_SEPARATOR, {**found, "found": _SEPARATORS[mark] + also}
    if len(fields) == len(expected.fields):
        return None
    without_class = fields[:-1] if fields[-1] in expected.classes else fields
    numbers = [_number(field) for field in without_class[1:]]
    if expected.has_box and len(without_class) == 2 and numbers[0] is not None:
        return BOX_MISSING, found
    found |= {"found": counted(len(fields), "field"), "expected": len(expected.fields)}
    has_only_a_box = expected.has_box and len(without_class) == _WITHOUT_CONFIDENCE and _is_box(numbers)
    if has_only_a_box or (len(fields) == 1 and len(expected.fields) == 2):
        return CONFIDENCE_MISSING, found
    if expected.names_people and len(fields) == 2 and numbers[0] is not None:
        # A whole number may be the index; then the confidence is missing.
        return (CONFIDENCE_MISSING if fields[1].isdecimal() else OBJECT_INDEX_MISSING), found
    is_numbered = _begins_with_row_number(fields, expected)
    hint = f" The first is {_ROW_NUMBER}." if is_numbered else _hint(len(fields), expected)
    return WRONG_NUMBER_OF_FIELDS, {**found, "hint": hint}


def _is_divided_by(mark: str, fields: Sequence[str], expected: LineFormat) -> bool:
    number = len(expected.fields)
    if len(fields) >= number and sum(field.endswith(mark) for field in fields[:-1]) < number - 1:
        return False
    if len(fields) < number and RLE in expected.fields and mark not in fields[0]:
        return False  # semicolons are among the characters of an RLE
    parts = _parts(mark, fields)
    return len(parts) == number or _begins_with_row_number(parts, expected)


def _parts(mark: str, fields: Sequence[str]) -> list[str]:
    return [part for field in fields for part in field.split(mark) if part]


def _begins_with_row_number(fields: Sequence[str], expected: LineFormat) -> bool:
    """Whether a field too many is a number, before an image with digits that is no plain number."""
    if len(fields) != len(expected.fields) + 1 or not re.fullmatch("0|[1-9][0-9]{0,8}", fields[0]):
        return False
    return re.fullmatch(r"0[0-9]+|(?=.*[0-9]).*[^0-9.eE+-].*", fields[1]) is not None


def _hint(found: int, expected: LineFormat) -> str:
    if found == _DETECTION_FIELDS and not expected.has_box:
        return " The line looks like one of a detection file."
    if found == _DETECTION_FIELDS and expected.names_class:
        return " The class seems to be missing."
    return ""


def _is_box(numbers: Sequence[float | None]) -> bool:
    """Whether four numbers are probably a box, not a confidence and three sides."""
    left, top, right, bottom = numbers
    if left is None or top is None or right is None or bottom is None:
        return False
    return left <= right and top <= bottom and not (0 <= left <= 1 and left != int(left))


def _number(field: str) -> float | None:
    try:
        return float(field)
    except ValueError:
        return None
