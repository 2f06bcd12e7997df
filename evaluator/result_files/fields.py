"""Parses single fields (image identifiers, object indices, numbers) and reports problems."""

import math
import re
from collections.abc import Sequence
from typing import Any

from vocboard.evaluator.names import Task
from vocboard.evaluator.problems import Kind, quoted
from vocboard.evaluator.problems.items import (
    BAD_OBJECT_INDEX,
    IMAGE_OF_ANOTHER_TASK,
    IMAGE_WITH_FILE_NAME,
    OBJECT_INDEX_ZERO,
    UNKNOWN_IMAGE,
)
from vocboard.evaluator.problems.text_files import (
    COMMA_DECIMAL,
    CONFIDENCE_OUT_OF_RANGE,
    NOT_A_NUMBER,
    NOT_FINITE,
    NUMBER_OUT_OF_RANGE,
    WRONG_CLASS,
)
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.rules import Limits

MAX_OBJECT_INDEX = 2**31 - 1

_WITH_COMMA = re.compile(r"[+-]?\d{1,20},\d{1,20}([eE][+-]?\d{1,3})?", re.ASCII)


def is_plain(text: str) -> bool:
    """Whether a text is a number in result files; `float` also accepts 1_000 and digits of any script."""
    return text.isascii() and "_" not in text


def find_image(identifier: str, line: int, items: Items, report: FileReport) -> int | None:
    """Return an image's position; report a problem and return None if it is not in the test set."""
    image = items.images.position(identifier)
    if image is None:
        kind, found = image_problem(identifier, items)
        report.add(kind, line, **found)
    return image


def column_of_image(fields: Sequence[str], items: Items) -> int:
    """Return the column of the only image, from 1 on; 1 if that is not clear: 151 may also be another number."""
    images = items.images
    columns = [column for column, field in enumerate(fields, start=1) if images.is_known and field in images]
    if len(columns) != 1:
        return 1
    image = fields[columns[0] - 1]
    return 1 if image.isdecimal() and str(int(image)) == image else columns[0]


def image_problem(identifier: str, items: Items) -> tuple[Kind, dict[str, Any]]:
    """Return the kind of problem of an unknown identifier, and the fields of its message."""
    found: dict[str, Any] = {"image": quoted(identifier)}
    meant = items.without_path(identifier)
    if meant is not None:
        what = "path" if "/" in identifier or "\\" in identifier else "file name"
        return IMAGE_WITH_FILE_NAME, {**found, "what": what, "meant": quoted(meant)}
    found |= {"task": _named(items.task), "described": items.described}
    tasks = items.tasks_with(identifier)
    if tasks:
        return IMAGE_OF_ANOTHER_TASK, {**found, "tasks": " and ".join(map(_named, tasks))}
    other_set = items.other_set_with(identifier)
    meant = items.with_other_zeros(identifier) or items.with_other_punctuation(identifier)
    items.unknown.note(identifier, other_set, is_misspelt=meant is not None and other_set is None)
    return UNKNOWN_IMAGE, {**found, "hint": lambda: items.hint(identifier)}


def _named(task: Task) -> str:
    return task.replace("_", " ")


def read_object_index(text: str, line: int, report: FileReport) -> int | None:
    """Return a 1-based object index; report a problem and return None if it is invalid."""
    digits = text if text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_OBJECT_INDEX)) else "0"
    if 0 < int(digits) <= MAX_OBJECT_INDEX:
        return int(digits)
    if text == "0":
        report.add(OBJECT_INDEX_ZERO, line)
    else:
        report.add(BAD_OBJECT_INDEX, line, found=quoted(text))
    return None


def check_confidence(
    text: str, value: float, confidence_range: tuple[float, float], line: int, report: FileReport
) -> None:
    """Report a confidence outside the range."""
    least, greatest = confidence_range
    if not least <= value <= greatest:
        report.add(CONFIDENCE_OUT_OF_RANGE, line, found=quoted(text), least=least, greatest=greatest)


def check_class(text: str, classes: tuple[str, ...], line: int, report: FileReport) -> None:
    """Report an unknown class."""
    if text in classes:
        return
    meant = [name for name in classes if name.lower() in {text.lower(), text.lower().removesuffix("s")}]
    hint = f"; this one is spelt {quoted(meant[0])}" if meant else ""
    report.add(WRONG_CLASS, line, found=quoted(text), classes=", ".join(classes), hint=hint)


def read_number(text: str, field: str, line: int, limits: Limits, report: FileReport) -> float | None:
    """Return a finite number; report a problem and return None if it is invalid or out of range."""
    try:
        value = float(text) if is_plain(text) else None
    except ValueError:
        value = None
    if value is None and _WITH_COMMA.fullmatch(text):
        meant = text.replace(",", ".")
        report.add(COMMA_DECIMAL, line, field=field, found=quoted(text), meant=meant)
    elif value is None:
        report.add(NOT_A_NUMBER, line, field=field, found=quoted(text))
    elif not math.isfinite(value):
        report.add(NOT_FINITE, line, field=field, found=quoted(text))
    elif abs(value) > limits.absolute_number:
        report.add(NUMBER_OUT_OF_RANGE, line, field=field, found=quoted(text), limit=limits.absolute_number)
    else:
        return value
    return None
