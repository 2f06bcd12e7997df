"""Edition files: TOML beside this module, read into `Edition` with every mistake named by its place."""

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, TypeVar

from evaluator.editions.model import (
    Competition,
    Edition,
    Interpolation,
    LayoutProtocol,
    Limits,
    Metric,
    Overlap,
    Task,
    TaskRules,
    Training,
)

_DIRECTORY = Path(__file__).parent

_PATTERN_FIELDS = {
    Task.CLASSIFICATION: {"competition", "image_set", "class"},
    Task.DETECTION: {"competition", "image_set", "class"},
    Task.SEGMENTATION: {"competition", "image_set", "image"},
    Task.LAYOUT: {"competition", "image_set"},
    Task.ACTION: {"competition", "image_set", "class"},
}

_Choice = TypeVar("_Choice", bound=StrEnum)


class UnknownEditionError(LookupError):
    """There is no edition of that name; the message lists those there are."""


class EditionFileError(ValueError):
    """An edition file is malformed; the message names the file, the place in it and what was expected there."""


@cache
def names() -> tuple[str, ...]:
    """Names of the editions that come with vocboard, oldest first."""
    return tuple(path.stem.upper() for path in sorted(_DIRECTORY.glob("*.toml")))


@cache
def load(name: str) -> Edition:
    """Return the edition called `name`, such as `VOC2007`; upper and lower case are the same.

    Raises:
        UnknownEditionError: there is none of that name.
        EditionFileError: its file is malformed.
    """
    if name not in names():
        if name.upper() in names():
            return load(name.upper())
        raise UnknownEditionError(f"There is no edition {name!r}; there are {', '.join(names())}.")
    return read(_DIRECTORY / f"{name.lower()}.toml")


def read(path: Path) -> Edition:
    """Return the edition an edition file describes.

    Raises:
        EditionFileError: the file is not TOML, or not an edition.
        OSError: the file cannot be read.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise EditionFileError(f"{path.name}: not a TOML file: {error}") from error
    return _edition(_Table(path.name, "", content))


class _Table:
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
        return key in self._content

    def text(self, key: str) -> str:
        value = self._value(key)
        if not isinstance(value, str) or not value:
            raise self.wrong(key, "a text")
        return value

    def integer(self, key: str) -> int:
        value = self._value(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self.wrong(key, "a whole number from 1 on")
        return value

    def number(self, key: str) -> float:
        value = self._value(key)
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < float("inf"):
            raise self.wrong(key, "a number from 0 on")
        return float(value)

    def flag(self, key: str) -> bool:
        value = self._value(key)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._value(key)
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self.wrong(key, "a list of texts")
        if len(set(value)) != len(value):
            raise self.wrong(key, "a list without repetitions")
        return tuple(value)

    def choice(self, key: str, choices: type[_Choice]) -> _Choice:
        try:
            return choices(self.text(key))
        except ValueError:
            raise self.wrong(key, "one of " + ", ".join(choices)) from None

    def table(self, key: str) -> "_Table":
        return _Table(self._file, self._path(key), self._value(key))

    def tables(self, key: str) -> list["_Table"]:
        value = self._value(key)
        if not isinstance(value, list):
            raise self.wrong(key, f"a list of tables, each begun by [[{self._path(key)}]]")
        return [_Table(self._file, f"{self._path(key)}[{number}]", item) for number, item in enumerate(value, 1)]

    def finish(self) -> None:
        """Refuse keys that nothing has asked for: a misspelt one must not be silently without effect."""
        unknown = sorted(set(self._content) - self._used)
        if unknown:
            raise EditionFileError(f"{self._file}: {', '.join(map(self._path, unknown))}: no such key.")

    def keys(self) -> list[str]:
        return list(self._content)

    def _path(self, key: str) -> str:
        return f"{self._place}.{key}" if self._place else key

    def _value(self, key: str) -> Any:
        self._used.add(key)
        return self._content.get(key)


def _edition(table: _Table) -> Edition:
    classes, parts, actions = table.texts("classes"), table.texts("parts"), table.texts("actions")
    if not 1 <= len(classes) <= 254:  # 0 is background and 255 void
        raise table.wrong("classes", "a list of 1 to 254 names")
    tasks = table.table("tasks")
    rules = {task: _rules(tasks.table(task), task, classes, parts, actions) for task in Task if tasks.has(task)}
    tasks.finish()
    competitions = [_competition(entry, rules) for entry in table.tables("competitions")]
    by_key = {competition.key: competition for competition in competitions}
    if not competitions or len(by_key) != len(competitions):
        raise table.wrong("competitions", "a list of at least one competition, each with its own number")
    edition = Edition(
        name=table.text("name"),
        title=table.text("title"),
        classes=classes,
        parts=parts,
        actions=actions,
        competitions=by_key,
        overlap=_overlap(table.table("overlap")) if table.has("overlap") else Overlap(),
        limits=_limits(table.table("limits")) if table.has("limits") else Limits(),
    )
    table.finish()
    return edition


def _rules(
    table: _Table, task: Task, classes: tuple[str, ...], parts: tuple[str, ...], actions: tuple[str, ...]
) -> TaskRules:
    protocol = table.choice("protocol", LayoutProtocol) if task is Task.LAYOUT else None
    scored = {Task.ACTION: actions, Task.LAYOUT: parts if protocol is LayoutProtocol.PARTS else ("person",)}
    has_curve = task is not Task.SEGMENTATION
    secondary = table.texts("secondary") if table.has("secondary") else ()
    if not set(secondary) <= set(Metric):
        raise table.wrong("secondary", "names out of " + ", ".join(Metric))
    rules = TaskRules(
        task=task,
        file=_file_pattern(table, task),
        classes=scored.get(task, classes),
        metric=table.choice("metric", Metric),
        secondary=tuple(map(Metric, secondary)),
        interpolation=table.choice("interpolation", Interpolation) if has_curve else Interpolation.AREA,
        layout_protocol=protocol,
    )
    table.finish()
    return rules


def _file_pattern(table: _Table, task: Task) -> str:
    pattern = table.text("file")
    expected = _PATTERN_FIELDS[task]
    try:
        found = {name for _, name, _, _ in Formatter().parse(pattern) if name is not None}
    except ValueError:
        found = set()
    if found != expected:
        listed = ", ".join(f"{{{name}}}" for name in sorted(expected))
        raise table.wrong("file", f"a file name with the fields {listed}")
    return pattern


def _competition(table: _Table, rules: Mapping[Task, TaskRules]) -> Competition:
    task = table.choice("task", Task)
    if task not in rules:
        raise table.wrong("task", "a task that has its own table, " + ", ".join(f"[tasks.{known}]" for known in rules))
    number = table.integer("number")
    competition = Competition(
        key=f"comp{number}",
        number=number,
        rules=rules[task],
        training=table.choice("training", Training),
        image_set=table.text("image_set"),
    )
    table.finish()
    return competition


def _overlap(table: _Table) -> Overlap:
    overlap = Overlap(threshold=table.number("threshold"), strict=table.flag("strict"))
    table.finish()
    return overlap


def _limits(table: _Table) -> Limits:
    whole = {field.name for field in fields(Limits) if field.type is int}
    known = [field.name for field in fields(Limits) if table.has(field.name)]
    values: dict[str, Any] = {name: table.integer(name) if name in whole else table.number(name) for name in known}
    table.finish()
    return Limits(**values)
