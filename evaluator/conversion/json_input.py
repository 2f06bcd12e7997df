"""Reads JSON with decimal numbers, and checks its values."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from vocboard.evaluator.conversion.boxes import Four
from vocboard.evaluator.conversion.problems import ConversionError
from vocboard.evaluator.problems import Problem, Severity

NAN = Decimal("nan")


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; fractions are `Decimal`, NaN and infinities are NaN.

    Raises:
        ConversionError: it is not JSON; the message has the line.
        OSError: the file cannot be read.
    """
    if path.is_dir():
        message = "This is a directory; expected is a JSON file. Directories of text files are converted with yolo."
        raise ConversionError([Problem("not_json", Severity.ERROR, message, path.name)])
    return parse_json(path.read_bytes(), path.name)


def parse_json(content: bytes, file: str) -> Any:
    """Return the content of the JSON file called `file`; see `read_json`."""
    try:
        return json.loads(content, parse_float=Decimal, parse_constant=lambda _: NAN)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "its text cannot be read"
        message = (
            f"This is not JSON: {reason}. Write the results with json.dump; tensors and arrays become lists with "
            ".tolist(), and files of torch.save and pickle are not read."
        )
        raise ConversionError([Problem("not_json", Severity.ERROR, message, file, line)]) from error


def number(value: Any) -> Decimal | None:
    """Return a finite number; None for anything else.

    >>> number(3), number("3"), number(True), number(NAN)
    (Decimal('3'), None, None, None)
    """
    if isinstance(value, Decimal):
        return value if value.is_finite() else None
    return Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else None


def four(value: Any) -> Four | None:
    """Return the four finite numbers of a list; None for anything else."""
    if not isinstance(value, list) or len(value) != 4:
        return None
    numbers = [number(each) for each in value]
    if any(each is None for each in numbers):
        return None
    a, b, c, d = (each for each in numbers if each is not None)
    return a, b, c, d
