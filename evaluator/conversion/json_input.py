"""Reads JSON with decimal numbers, and checks its values."""

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

from vocboard.evaluator.conversion.boxes import Four
from vocboard.evaluator.conversion.problems import LISTED, ConversionError
from vocboard.evaluator.problems import Problem, Severity

_MAX_SHOWN_LENGTH = 60  # characters
NAN = Decimal("nan")
_REMEDY = (
    "Write the results with json.dump; tensors and arrays become lists with .tolist(), and files of torch.save and "
    "pickle are not read."
)


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; fractions are `Decimal`, NaN and infinities are NaN.

    Raises:
        ConversionError: it is not JSON; the message has the line.
        OSError: the file cannot be read.
    """
    if path.is_dir():
        message = "This is a directory; expected a JSON file. Directories of text files are converted with yolo."
        raise ConversionError([Problem("not_json", Severity.ERROR, message, path.name)])
    return parse_json(path.read_bytes(), path.name)


def parse_json(content: bytes, file: str) -> Any:
    """Return the content of the JSON file called `file`; see `read_json`."""
    repeated: Counter[str] = Counter()

    def as_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            repeated.update(key for key, count in counts.items() if count > 1)
        return found

    try:
        document = json.loads(content, parse_float=Decimal, parse_constant=lambda _: NAN, object_pairs_hook=as_dict)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        message = f"{_reason(content, error)} {_REMEDY}"
        raise ConversionError([Problem("not_json", Severity.ERROR, message, file, line)]) from error
    if repeated:
        listed = ", ".join(f"{key!r} ({number:,})" for key, number in repeated.most_common(LISTED))
        more = f" and {len(repeated) - LISTED:,} more" if len(repeated) > LISTED else ""
        message = (
            f"The same key more than once in an object: {listed}{more}. Only one of its values would count. Write each "
            "key once; several detections of an image belong in one list."
        )
        raise ConversionError([Problem("repeated_key", Severity.ERROR, message, file)])
    return document


def _reason(content: bytes, error: Exception) -> str:
    text = content.strip()
    if not text:
        return "The file is empty."
    has_ended = isinstance(error, json.JSONDecodeError) and error.msg == "Extra data"
    if text.startswith((b"{", b"[")) and not text.endswith((b"}", b"]")) and not has_ended:
        return "The JSON ends in the middle: the file is incomplete. Copy it again, or write it again."
    if isinstance(error, json.JSONDecodeError):
        return f"This is not JSON: {error.msg[0].lower()}{error.msg[1:]} at column {error.colno:,}."
    if isinstance(error, RecursionError):
        return "This JSON is nested too deeply."
    return "This is not JSON in UTF-8: its text cannot be read."


def number(value: Any) -> Decimal | None:
    """Return a finite number; None for anything else.

    >>> number(3), number("3"), number(True), number(NAN)
    (Decimal('3'), None, None, None)
    """
    if isinstance(value, Decimal):
        return value if value.is_finite() else None
    return Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else None


def shown(value: Any) -> str:
    """Return a wrong value as JSON, shortened.

    >>> shown("0.9"), shown([Decimal("1.5"), NAN]), shown(None)
    ('"0.9"', '[1.5, NaN]', 'null')
    """
    text = json.dumps(value, default=float)
    return text if len(text) <= _MAX_SHOWN_LENGTH else f"{text[: _MAX_SHOWN_LENGTH - 1]}…"


def four(value: Any) -> Four | None:
    """Return the four finite numbers of a list; None for anything else."""
    if not isinstance(value, list) or len(value) != 4:
        return None
    numbers = [number(each) for each in value]
    if any(each is None for each in numbers):
        return None
    a, b, c, d = (each for each in numbers if each is not None)
    return a, b, c, d
