"""Packages of others that add tasks, metrics and editions, found by their entry points (docs/extensions.md).

Which of the installed ones are loaded is said by the environment variable `VOCBOARD_EXTENSIONS`: names of packages
parted by commas, or `*` for all. It is read once, before the names of tasks and metrics are: without it, a package runs
nothing. Nothing here imports an extension; `tasks` does, by `reporting`.
"""

import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

VARIABLE = "VOCBOARD_EXTENSIONS"
ALL = "*"


class Group(StrEnum):
    """The groups of entry points."""

    TASKS = "vocboard.tasks"
    METRICS = "vocboard.metrics"
    EDITIONS = "vocboard.editions"


# As columns of the database and the names of built-in ones have them.
_NAMES = {
    Group.TASKS: re.compile(r"[a-z][a-z0-9_]{0,29}"),
    Group.METRICS: re.compile(r"[a-z][a-z0-9_]{0,59}"),
    Group.EDITIONS: re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,59}"),
}


@dataclass(frozen=True, slots=True)
class Addition:
    """What one entry point adds.

    Attributes:
        name: of the task, the metric or the edition.
        package: that has its modules, or the edition's file.
        extension: the name and the version of the distribution: `vocboard-keypoints 0.1.0`.
    """

    group: Group
    name: str
    package: str
    extension: str


_failures: dict[str, str] = {}  # why extensions cannot be used, by name and version, or by a name that is not installed


def added(group: Group) -> tuple[Addition, ...]:
    """Return what the chosen extensions add to a group, by name."""
    return _chosen()[group]


def members(group: Group, own: Mapping[str, object]) -> dict[str, str]:
    """Return the added names of a group as members of an enumeration whose own names are given.

    An extension cannot replace what is built in, nor what another one adds.
    """
    found = {each.name.upper(): each for each in added(group)}
    for name in sorted(found.keys() & own.keys()):
        _fail(found.pop(name), f"{name.lower()} is built in")
    return {name: each.name for name, each in found.items()}


def used_by(names: Collection[str]) -> tuple[str, ...]:
    """Return the extensions, with their versions, that any of these tasks and metrics are of."""
    of = {each.extension for group in (Group.TASKS, Group.METRICS) for each in added(group) if each.name in names}
    return tuple(sorted(of))


def environment() -> dict[str, str]:
    """Return the variables that make another process load the same extensions."""
    return {VARIABLE: os.environ[VARIABLE]} if VARIABLE in os.environ else {}


def failures() -> dict[str, str]:
    """Return why extensions that were chosen cannot be used, by extension."""
    _chosen()
    return dict(_failures)


def why_not(group: Group, name: str) -> str | None:
    """Return why something that an extension adds cannot be used; None if it can."""
    return next((_failures.get(each.extension) for each in added(group) if each.name == name), None)


@contextmanager
def reporting(addition: Addition | None) -> Iterator[None]:
    """Say once that an extension has failed in the block, and go on; None is for what is built in, which may not."""
    try:
        yield
    except Exception as error:
        if addition is None:
            raise
        _fail(addition, f"{type(error).__name__}: {error}")


def _fail(addition: Addition, reason: str) -> None:
    _note(addition.extension, f"Extension {addition.extension} cannot be used: {addition.name}: {reason}.")


def _note(extension: str, sentence: str) -> None:
    if extension not in _failures:
        import logging  # noqa: PLC0415  # mostly nothing fails, and short commands log nothing else

        _failures[extension] = sentence
        logging.getLogger(__name__).error("%s", sentence)


@cache
def _chosen() -> dict[Group, tuple[Addition, ...]]:
    wanted = {_normal(name) for name in os.environ.get(VARIABLE, "").split(",") if name.strip()}
    found: dict[Group, dict[str, Addition]] = {group: {} for group in Group}
    installed = set()
    is_any = bool(wanted) and _is_any_installed()
    if is_any:
        from importlib.metadata import entry_points  # noqa: PLC0415  # takes a tenth of the start of a short command

        entries = entry_points()  # of all groups: asking for each would read the files of all packages each time
    for group in Group if is_any else ():
        for entry in sorted(entries.select(group=group), key=lambda each: each.name):
            if entry.dist is None or not wanted & {ALL, _normal(entry.dist.name)}:
                continue
            installed.add(_normal(entry.dist.name))
            addition = Addition(group, entry.name, entry.value, f"{entry.dist.name} {entry.dist.version}")
            if not _NAMES[group].fullmatch(entry.name):
                _fail(addition, "is not a name as docs/extensions.md describes it")
            elif (other := found[group].get(entry.name)) is not None:
                _fail(addition, f"{other.extension} has one of this name")
            else:
                found[group][entry.name] = addition
    for name in sorted(wanted - installed - {ALL}):
        _note(name, f"Extension {name} cannot be used: it is not installed, or adds nothing to vocboard.")
    return {group: tuple(each.values()) for group, each in found.items()}


def _is_any_installed() -> bool:
    """Return whether an installed package has an entry point of ours.

    Mostly none has, and a command then starts without `importlib.metadata`, a seventh faster.
    """
    for file in (file for directory in sys.path for file in Path(directory).glob("*-info/entry_points.txt")):
        with suppress(OSError):
            if b"[vocboard." in file.read_bytes():
                return True
    return False


def _normal(name: str) -> str:
    """Return the name of a distribution as PEP 503 normalises it."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()
