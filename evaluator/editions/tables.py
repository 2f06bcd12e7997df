"""TOML tables read key by key, with every mistake named by its place."""

from enum import StrEnum
from typing import Any, TypeVar

_Choice = TypeVar("_Choice", bound=StrEnum)


class EditionFileError(ValueError):
    """An edition file is malformed; the message names the file, the place in it and what was expected there."""


class Table:
    """A TOML table that knows where it stands and which of its keys have been used."""

    def __init__(self, file: str, place: str, content: object):
        if not isinstance(content, dict):
            raise EditionFileError(f"{file}: {place or 'the file'} must be a table, not {content!r}.")
        self._file, self._place, self._content = file, place, content
        self._used: set[str] = set()

    def wrong(self, key: str, expected: str) -> EditionFileError:
        """The error to raise for one key."""
        found = f"not {self._content[key]!r}" if key in self._content else "but it is missing"
        return EditionFileError(f"{self._file}: {self._path(key)} must be {expected}, {found}.")

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        return key in self._content

    def text(self, key: str) -> str:
        """A text that is not empty."""
        value = self._value(key)
        if not isinstance(value, str) or not value:
            raise self.wrong(key, "a text")
        return value

    def integer(self, key: str) -> int:
        """A whole number from 1 on."""
        value = self._value(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self.wrong(key, "a whole number from 1 on")
        return value

    def number(self, key: str) -> float:
        """A finite number from 0 on."""
        value = self._value(key)
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < float("inf"):
            raise self.wrong(key, "a number from 0 on")
        return float(value)

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self._value(key)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def interval(self, key: str) -> tuple[float, float]:
        """Two numbers, the first less than the second."""
        match self._value(key):
            case [int() | float() as least, int() | float() as greatest] if least < greatest:
                return float(least), float(greatest)
        raise self.wrong(key, "two numbers, the lesser one first")

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts without repetitions."""
        value = self._value(key)
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self.wrong(key, "a list of texts")
        if len(set(value)) != len(value):
            raise self.wrong(key, "a list without repetitions")
        return tuple(value)

    def choice(self, key: str, choices: type[_Choice]) -> _Choice:
        """One of the values of an enumeration."""
        try:
            return choices(self.text(key))
        except ValueError:
            raise self.wrong(key, "one of " + ", ".join(choices)) from None

    def table(self, key: str) -> "Table":
        """A table below this one."""
        return Table(self._file, self._path(key), self._value(key))

    def tables(self, key: str) -> list["Table"]:
        """A list of tables."""
        value = self._value(key)
        if not isinstance(value, list):
            raise self.wrong(key, f"a list of tables, each begun by [[{self._path(key)}]]")
        return [Table(self._file, f"{self._path(key)}[{number}]", item) for number, item in enumerate(value, 1)]

    def finish(self) -> None:
        """Refuse keys that nothing has asked for: a misspelt one must not be silently without effect."""
        unknown = sorted(set(self._content) - self._used)
        if unknown:
            raise EditionFileError(f"{self._file}: {', '.join(map(self._path, unknown))}: no such key.")

    def names(self) -> list[str]:
        """All keys, in the order of the file."""
        return list(self._content)

    def _path(self, key: str) -> str:
        return f"{self._place}.{key}" if self._place else key

    def _value(self, key: str) -> Any:
        self._used.add(key)
        return self._content.get(key)
