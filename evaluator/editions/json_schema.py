"""The JSON Schema of edition files, for completion in editors: recorded from what `schema.edition_in` reads.

What depends on other values (names of classes, which measures go together) is not in it; reading the file checks that.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, TypeVar

from vocboard.evaluator.editions.schema import edition_in
from vocboard.evaluator.editions.tables import Table

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ANY = "*"  # stands for names of the file's own
_TEXT = {"type": "string", "minLength": 1}
_Choice = TypeVar("_Choice", bound=StrEnum)


def edition_json_schema() -> dict[str, Any]:
    """Return the schema.

    The reader is run as if a file had every key, and each of its choices in turn; what it always asks for without
    looking whether it is there is required.
    """
    found: dict[str, Any] = {}
    count = 1
    turn = 0
    while turn < count:
        recorder = _Recorder(turn)
        edition_in(recorder)
        count = max(count, recorder.most_choices())
        found = _merged(found, recorder.schema) if found else recorder.schema
        turn += 1
    return {"$schema": DIALECT, "title": "Edition of a challenge", **found}


class _Recorder(Table):
    """A table that notes what is asked of it, and answers with examples."""

    def __init__(self, turn: int) -> None:
        self._turn = turn
        self._choices = 1
        self._inner: list[_Recorder] = []
        self._optional: set[str] = set()
        self.schema: dict[str, Any] = {
            "type": "object", "properties": {}, "required": [], "additionalProperties": False
        }  # fmt: skip

    def most_choices(self) -> int:
        """Return the greatest number of choices of a key, here or in a table below."""
        return max([self._choices, *(each.most_choices() for each in self._inner)])

    def _note(self, key: str, schema: dict[str, Any]) -> None:
        if key == _ANY:
            self.schema["additionalProperties"] = schema
            return
        self.schema["properties"][str(key)] = schema
        if key not in self._optional and key not in self.schema["required"]:
            self.schema["required"].append(str(key))

    def has(self, key: str) -> bool:
        self._optional.add(key)
        return True

    def fail(self, key: str, expected: str, hint: str = "") -> None:
        pass

    def is_sound(self, *keys: str) -> bool:
        return True

    def finish(self, hint: str = "") -> None:
        pass

    def names(self) -> list[str]:
        return [_ANY]

    def text(self, key: str) -> str:
        self._note(key, _TEXT)
        return "x"

    def integer(self, key: str) -> int:
        self._note(key, {"type": "integer", "minimum": 1})
        return 1

    def number(self, key: str) -> float:
        self._note(key, {"type": "number", "minimum": 0})
        return 0.0

    def flag(self, key: str) -> bool:
        self._note(key, {"type": "boolean"})
        return False

    def interval(self, key: str) -> tuple[float, float]:
        self._note(key, {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2})
        return 0.0, 1.0

    def matching(self, key: str, pattern: re.Pattern[str], expected: str) -> str:
        self._note(key, {"type": "string", "pattern": f"^(?:{pattern.pattern})$"})
        return "x"

    def short(self, key: str, max_length: int) -> str:
        self._note(key, {**_TEXT, "maxLength": max_length})
        return "x"

    def texts(self, key: str, offered: Iterable[str] = ()) -> tuple[str, ...]:
        known = [str(each) for each in offered]
        self._note(key, {"type": "array", "items": {"enum": known} if known else _TEXT, "uniqueItems": True})
        return ("x",)

    def lists_of_texts(self, key: str) -> tuple[tuple[str, ...], ...]:
        self._note(key, {"type": "array", "items": {"type": "array", "items": _TEXT, "uniqueItems": True}})
        return (("x",),)

    def choice(self, key: str, choices: Iterable[_Choice]) -> _Choice:
        offered = list(choices)
        self._choices = max(self._choices, len(offered))
        self._note(key, {"enum": [str(each) for each in offered]})
        return offered[self._turn % len(offered)]

    def table(self, key: str) -> "Table":
        inner = _Recorder(self._turn)
        self._inner.append(inner)
        self._note(key, inner.schema)
        return inner

    def tables(self, key: str) -> list["Table"]:
        inner = _Recorder(self._turn)
        self._inner.append(inner)
        self._note(key, {"type": "array", "items": inner.schema, "minItems": 1})
        return [inner]


def _merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of what either of two schemas of the same place allows."""
    merged = {**one, **other}
    if "enum" in merged:
        merged["enum"] = list(dict.fromkeys([*one.get("enum", ()), *other.get("enum", ())]))
    if "properties" in merged:
        first, second = one["properties"], other["properties"]
        merged["properties"] = {
            key: _merged(first[key], second[key]) if key in first and key in second else first.get(key, second.get(key))
            for key in dict.fromkeys([*first, *second])
        }
        merged["required"] = [key for key in one["required"] if key in other["required"]]
    for key in ("items", "additionalProperties"):
        if isinstance(one.get(key), dict) and isinstance(other.get(key), dict):
            merged[key] = _merged(one[key], other[key])
    return merged
