"""Reads what people type into a form: dates, whole numbers, choices. All mistakes are noted, to be said at once."""

from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import TypeVar

MAX_DIGITS = 9  # of whole numbers; the service has the real bounds

Choice = TypeVar("Choice", bound=StrEnum)


def instant(text: str, field: str, wrong: dict[str, str], zone: tzinfo = UTC) -> datetime | None:
    """Return a date and time that was typed; None if there is none."""
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        wrong[field] = "Give a date and a time, such as 2026-03-01T12:00."
        return None


def whole(text: str, field: str, wrong: dict[str, str]) -> int:
    """Return a whole number that was typed."""
    stripped = text.strip()
    if stripped.isascii() and stripped.isdigit() and len(stripped) <= MAX_DIGITS:
        return int(stripped)
    wrong[field] = "Give a whole number."
    return 0


def chosen(choices: type[Choice], text: str, field: str, wrong: dict[str, str]) -> Choice:
    """Return what was chosen of several."""
    try:
        return choices(text)
    except ValueError:
        wrong[field] = "Choose one of these."
        return next(iter(choices))
