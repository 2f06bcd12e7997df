"""The numbers of a ground truth version as tables: one for each task, with its image sets side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_ORDER = ("train", "val", "trainval", "test")  # as in the documents' tables; other sets follow


@dataclass(frozen=True, slots=True)
class ImageSetColumns:
    """What a table says of one image set.

    Attributes:
        totals: numbers of the whole set: images, and people where a task names them.
        columns: what is counted in each class, such as images and objects.
        missing: why the set cannot be scored; empty if it can.
    """

    name: str
    totals: Mapping[str, int]
    columns: tuple[str, ...]
    missing: str


@dataclass(frozen=True, slots=True)
class TruthTable:
    """The numbers of one task.

    Attributes:
        rows: name of the class, and a number for each column of each set; None where nothing is counted.
    """

    task: str
    sets: tuple[ImageSetColumns, ...]
    rows: tuple[tuple[str, tuple[int | None, ...]], ...]


def truth_tables(summary: Mapping[str, Any] | None) -> list[TruthTable]:
    """Return the tables for the summary of a version (`GroundTruthVersion.summary`), in its order of tasks."""
    by_task: dict[str, dict[str, Mapping[str, Any]]] = {}
    for key, numbers in (summary or {}).items():
        task, _, name = key.partition("/")
        by_task.setdefault(task, {})[name] = numbers
    return [_table(task, sets) for task, sets in by_task.items()]


def _table(task: str, sets: Mapping[str, Mapping[str, Any]]) -> TruthTable:
    names = sorted(sets, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))
    found = tuple(_columns(name, sets[name]) for name in names)
    classes = dict.fromkeys(one for name in names for one in sets[name].get("classes", {}))
    rows = []
    for one in classes:
        counted = [
            sets[of_set.name].get("classes", {}).get(one, {}).get(key) for of_set in found for key in of_set.columns
        ]
        rows.append((one, tuple(counted)))
    return TruthTable(task, found, tuple(rows))


def _columns(name: str, numbers: Mapping[str, Any]) -> ImageSetColumns:
    columns = dict.fromkeys(key for counted in numbers.get("classes", {}).values() for key in counted)
    totals = {key: value for key, value in numbers.items() if isinstance(value, int)}
    return ImageSetColumns(name, totals, tuple(columns), numbers.get("missing", ""))
