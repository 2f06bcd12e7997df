"""Filters in URLs of lists. Invalid values are ignored, and links keep the other filters."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TypeVar
from urllib.parse import urlencode

from fastapi import Request

from vocboard.app.forms import MAX_DIGITS

Choice = TypeVar("Choice", bound=StrEnum)
ONE_DAY = timedelta(days=1)


def chosen(kind: type[Choice], text: str) -> Choice | None:
    """Return the member of an enumeration with this value, if there is one."""
    return kind(text) if text in set(kind) else None


def page_number(request: Request) -> int:
    """Return the page of a list that an address asks for."""
    number = request.query_params.get("page", "")
    return int(number) if number.isdecimal() and len(number) <= MAX_DIGITS else 1


def day(text: str) -> datetime | None:
    """Return the beginning of a day in UTC, as a date field sends it; None for anything else.

    >>> day("2026-05-01").isoformat()
    '2026-05-01T00:00:00+00:00'
    """
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None


def day_after(text: str) -> datetime | None:
    """Return the end of a day, as `day` its beginning."""
    begins = day(text)
    return None if begins is None or begins.year == 9999 else begins + ONE_DAY


def address_with(path: str, given: Mapping[str, str], changed: Mapping[str, object]) -> str:
    """Return the address of a page with some of its filters changed; None takes one away.

    >>> address_with("/log", {"who": "server", "page": "2"}, {"page": None})
    '/log?who=server'
    """
    query = {**given, **changed}
    query.pop("done", None)
    kept = {name: value for name, value in query.items() if value not in {None, ""}}
    return f"{path}?{urlencode(kept)}" if kept else path
