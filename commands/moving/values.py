"""Typed values of a configuration, which was written for another server and may have anything in it."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time
from typing import Any, TypeVar

from dateutil import parser

from vocboard.app.forms import cleaned

MAX_ITEMS = 200  # of a list
SHOWN = 60  # characters of a value in a message
T = TypeVar("T")
WORDS = {"true": True, "yes": True, "false": False, "no": False}


class Values:
    """A mapping of a configuration. It remembers which names were read, so that the others can be reported.

    Args:
        place: where it is in the configuration; empty for all of it.
        wrong: gets everything that is not of the type that was asked for.
        remarks: gets how what is ambiguous was read.
    """

    def __init__(self, content: Any, place: str, wrong: list[str], remarks: list[str]) -> None:
        self._place, self._wrong, self._remarks = place, wrong, remarks
        if not isinstance(content, Mapping):
            wrong.append(f"{place or 'The configuration'} has to be a mapping of names to values.")
            content = {}
        self._content = {str(name): value for name, value in content.items()}
        self._read: dict[str, list[Values]] = {}

    def get(self, name: str) -> Any:
        """Return a value of any type; None without one."""
        self._read.setdefault(name, [])
        return self._content.get(name)

    def text(self, name: str) -> str:
        """Return a text; empty without one."""
        value = self.get(name)
        if value is None or isinstance(value, str | int | float | date):
            return "" if value is None else cleaned(" ".join(str(value).split()))
        return self._refuse(name, "a text", "")

    def whole(self, name: str, *, default: int = 0) -> int:
        """Return a number."""
        value = self.get(name)
        try:
            return default if value is None else int(value or 0)
        except (ValueError, OverflowError, TypeError):
            return self._refuse(name, "a number", 0)

    def flag(self, name: str, *, default: bool) -> bool:
        """Return whether something is the case."""
        value = self.get(name)
        value = WORDS.get(value.strip().lower(), value) if isinstance(value, str) else value
        if value is None or value == "":
            return default
        return value if isinstance(value, bool) else self._refuse(name, "true or false", default)

    def texts(self, name: str) -> list[str]:
        """Return a list of texts."""
        value = self.get(name)
        if value is None or (isinstance(value, list) and all(isinstance(each, str | int) for each in value)):
            return [str(each) for each in value or ()]
        return self._refuse(name, "a list of texts", [])

    def moment(self, name: str) -> datetime | None:
        """Return an instant. Without a time zone, it is in UTC, as those servers read it."""
        value = self.get(name)
        if isinstance(value, str) and value.strip().lower() not in {"", "null", "none"}:
            try:
                value = datetime.fromisoformat(value.strip())
            except ValueError:
                value = self._guessed(name, value)
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=UTC)
        if isinstance(value, date):
            return datetime.combine(value, time(), UTC)
        return None if value is None or isinstance(value, str) else self._refuse(name, "a date", None)

    def _guessed(self, name: str, text: str) -> datetime | None:
        """Return a date in any notation, as Codabench reads it: of 10-07-2025, the month is October."""
        try:
            found = parser.parse(text, default=datetime(2000, 1, 1))  # noqa: DTZ001  # as without a time zone
        except (ValueError, OverflowError):
            return self._refuse(name, "a date", None)
        self._remarks.append(f"{self._at(name)}: “{text}” is read as {found:%d %B %Y}.")
        return found

    def inner(self, name: str) -> "Values":
        """Return a mapping in this one; empty without one."""
        return self._inner(self.get(name) or {}, name, name)

    def several(self, name: str) -> list["Values"]:
        """Return mappings in this one, in a list or by name, such as CodaLab's phases."""
        value = self.get(name)
        if isinstance(value, Mapping):
            value = list(value.values())
        if value is not None and not (isinstance(value, list) and len(value) <= MAX_ITEMS):
            return self._refuse(name, f"a list of at most {MAX_ITEMS}", [])
        return [self._inner(each, f"{name}[{place}]", name) for place, each in enumerate(value or ())]

    def names(self) -> list[str]:
        """Return all names, in their order."""
        return list(self._content)

    def unread(self) -> Iterator[str]:
        """Yield what nobody has asked for and is not empty, such as `phases.execution_time_limit`; some repeatedly."""
        for name, value in self._content.items():
            for each in self._read.get(name, ()):
                yield from (f"{name}.{inner}" for inner in each.unread())
            if name not in self._read and value not in (None, "", [], {}):
                yield name

    def _inner(self, content: Any, place: str, name: str) -> "Values":
        found = Values(content, self._at(place), self._wrong, self._remarks)
        self._read[name].append(found)
        return found

    def _at(self, name: str) -> str:
        return f"{self._place}.{name}" if self._place else name

    def _refuse(self, name: str, wanted: str, default: T) -> T:
        given = str(self._content[name])[:SHOWN]
        self._wrong.append(f"{self._at(name)} has to be {wanted}, not “{given}”.")
        return default
