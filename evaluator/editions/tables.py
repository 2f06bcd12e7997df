"""Reads TOML tables key by key, and collects errors with their places.

For invalid values, an error is recorded and a default returned, so that the rest of the file is read too.
"""

import difflib
import re
import sys
from collections.abc import Iterable
from enum import StrEnum
from reprlib import Repr
from typing import Any, TypeVar

from vocboard.evaluator.editions.mistakes import Mistakes

_Choice = TypeVar("_Choice", bound=StrEnum)

_brief = Repr()
_brief.maxstring = _brief.maxother = 80
_brief.maxlist = _brief.maxdict = 4


class Table:
    """A TOML table that knows its place and which of its keys were read."""

    def __init__(self, mistakes: Mistakes, place: str, content: object):
        self._mistakes, self._place = mistakes, place
        self._is_table = isinstance(content, dict)
        self._content: dict[str, Any] = content if isinstance(content, dict) else {}
        if not self._is_table:
            mistakes.note(place, f"{place} must be a table, not {_brief.repr(content)}.")
        self._used: set[str] = set()
        self._wrong: set[str] = set()

    def fail(self, key: str, expected: str, hint: str = "") -> None:
        """Record an error of a key, with a sentence that may help; only the first one is kept."""
        if key in self._wrong or not self._is_table:
            return
        self._wrong.add(key)
        found = f"not {_brief.repr(self._content[key])}" if key in self._content else "but it is missing"
        self._mistakes.note(self._path(key), f"{self._path(key)} must be {expected}, {found}.{hint}")

    def has(self, key: str) -> bool:
        """Whether the key exists."""
        return key in self._content

    def is_sound(self, *keys: str) -> bool:
        """Whether these keys have no errors."""
        return self._is_table and not self._wrong & set(keys)

    def text(self, key: str) -> str:
        """Return a non-empty text without control characters."""
        value = self._value(key)
        if isinstance(value, str) and value and value.isprintable():
            return value
        self.fail(key, "a text" if not isinstance(value, str) or not value else "a text in one line")
        return ""

    def matching(self, key: str, pattern: re.Pattern[str], expected: str) -> str:
        """Return a text that matches a pattern as a whole; `expected` describes it."""
        text = self.text(key)
        if text and not pattern.fullmatch(text):
            self.fail(key, expected)
        return text

    def short(self, key: str, max_length: int) -> str:
        """Return a text of limited length."""
        text = self.text(key)
        if len(text) > max_length:
            self.fail(key, f"a text of at most {max_length} characters")
        return text

    def integer(self, key: str) -> int:
        """Return a whole number of at least 1."""
        value = self._value(key)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
            return value
        self.fail(key, "a whole number from 1 on")
        return 1

    def number(self, key: str) -> float:
        """Return a finite number of at least 0."""
        value = self._value(key)
        if _is_number(value) and 0 <= value < float("inf"):
            return float(value)
        self.fail(key, "a number from 0 on")
        return 0.0

    def flag(self, key: str) -> bool:
        """Return a boolean."""
        value = self._value(key)
        if isinstance(value, bool):
            return value
        self.fail(key, "true or false")
        return False

    def interval(self, key: str) -> tuple[float, float]:
        """Return two numbers, the first less than the second."""
        match self._value(key):
            case [least, greatest] if _is_number(least) and _is_number(greatest) and least < greatest:
                return float(least), float(greatest)
        self.fail(key, "two numbers, the lesser one first")
        return 0.0, 1.0

    def texts(self, key: str, offered: Iterable[str] = ()) -> tuple[str, ...]:
        """Return a list of distinct texts.

        Args:
            offered: what the caller knows, if it knows all; only the JSON Schema needs it.
        """
        value = self._value(key)
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            self.fail(key, "a list of texts")
            return ()
        if len(set(value)) != len(value):
            self.fail(key, "a list without repetitions")
        return tuple(value)

    def lists_of_texts(self, key: str) -> tuple[tuple[str, ...], ...]:
        """Return a list of lists of distinct texts."""
        lists: Any = self._value(key)
        is_right = isinstance(lists, list) and all(
            isinstance(each, list) and all(isinstance(item, str) and item for item in each) for each in lists
        )
        if not is_right:
            self.fail(key, "a list of lists of texts")
            return ()
        if any(len(set(each)) != len(each) for each in lists):
            self.fail(key, "a list of lists without repetitions")
        return tuple(map(tuple, lists))

    def choice(self, key: str, choices: Iterable[_Choice]) -> _Choice:
        """Return one of some members of an enumeration, or of all; the first one for invalid values."""
        value, offered = self._value(key), {str(each): each for each in choices}
        if isinstance(value, str) and value in offered:
            return offered[value]
        self.fail(key, "one of " + ", ".join(offered), meant(value, offered))
        return next(iter(offered.values()))

    def table(self, key: str) -> "Table":
        """Return a nested table."""
        if key in self._content:
            return Table(self._mistakes, self._path(key), self._value(key))
        self.fail(key, f"a table, begun by [{self._path(key)}]")
        return Table(self._mistakes, self._path(key), {})

    def tables(self, key: str) -> list["Table"]:
        """Return a list of tables."""
        value = self._value(key)
        if not isinstance(value, list):
            self.fail(key, f"a list of tables, each begun by [[{self._path(key)}]]")
            return []
        return [Table(self._mistakes, f"{self._path(key)}[{number}]", item) for number, item in enumerate(value, 1)]

    def finish(self, hint: str = "") -> None:
        """Report unknown keys, so that misspelt ones are not silently ignored; the hint is for those like no other."""
        for key in self._content:
            if key not in self._used | self._wrong:
                self._mistakes.note(self._path(key), f"{self._path(key)}: no such key.{meant(key, self._used) or hint}")

    def names(self) -> list[str]:
        """Return all keys, in the order of the file."""
        return list(self._content)

    def _path(self, key: str) -> str:
        return f"{self._place}.{key}" if self._place else key

    def _value(self, key: str) -> Any:
        self._used.add(key)
        return self._content.get(key)


def _is_number(value: object) -> bool:
    """Whether a value is a number, and no whole one beyond the largest of floating point."""
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) <= sys.float_info.max
    return isinstance(value, float)


def meant(found: object, known: Iterable[str]) -> str:
    """Return a sentence with the known name that is most like one; empty if there is none.

    >>> meant("average_precison", ["area_under_curve", "average_precision"])
    ' Did you mean average_precision?'
    """
    likely = difflib.get_close_matches(found, known, n=1) if isinstance(found, str) else []
    return f" Did you mean {likely[0]}?" if likely else ""
