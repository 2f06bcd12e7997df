"""Instants in the details of events: they are stored with their type, so that no text is treated as one."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

_KEY = "instant"  # of an object that has nothing else
# Earlier versions stored instants as texts. Of these, only what no user typed as a text is read as one.
_EARLIER = frozenset({"at", "until", "opens_at", "closes_at", "leaderboard_from", "freezes_at", "anonymous_until"})


def stored(value: Any) -> Any:
    """Return details, or a value in them, in JSON's types.

    >>> stored({"title": "2026-05-01T00:00:00Z", "until": datetime(2026, 5, 1, tzinfo=UTC)})
    {'title': '2026-05-01T00:00:00Z', 'until': {'instant': '2026-05-01T00:00:00+00:00'}}
    """
    if isinstance(value, datetime):
        return {_KEY: value.isoformat()}
    if isinstance(value, Mapping):
        return {name: stored(each) for name, each in value.items()}
    return [stored(each) for each in value] if isinstance(value, list | tuple) else value


def shown(value: Any) -> Any:
    """Return stored details, or a value in them, with instants as ISO 8601 texts, as the API and files have them."""
    if isinstance(value, Mapping):
        return value[_KEY] if _is_instant(value) else {name: shown(each) for name, each in value.items()}
    return [shown(each) for each in value] if isinstance(value, list) else value


def instant_in(value: Any, *, name: str = "") -> datetime | None:
    """Return the instant that a stored value is, in UTC; None if it is something else.

    Args:
        name: of the value, by which instants of earlier versions are recognised.
    """
    text = value[_KEY] if _is_instant(value) else value if name in _EARLIER else None
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
        return found.astimezone(UTC) if found.tzinfo is not None else None
    except (ValueError, OverflowError):  # only an import of an earlier version can have written this
        return None


def _is_instant(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() == {_KEY}
