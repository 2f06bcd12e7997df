"""Rows for databases of any revision: rows in each table, and leaderboards of two phases.

What to insert is read from the tables that the database has, so a new table or column needs nothing here, except an
entry in `_VALUES` where the leaderboard needs a certain value.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import CHAR, JSON, Column, Connection, MetaData, Table, Uuid, bindparam, insert, update

TIME = datetime(2026, 11, 21, 12, tzinfo=UTC)
PHASES = ("main", "second")
WAITING_MESSAGES = 3
COMPETITION, CLASSES = "comp3", ("aeroplane", "bicycle")
_VALUES: Mapping[str, Mapping[str, Any]] = {
    "challenges": {"edition": "voc2007", "visibility": "public", "overall_rank": "mean_rank", "decimals": 4},
    "competition_results": {"competition": COMPETITION, "task": "detection", "not_entered": []},
    "ground_truth_versions": {"state": "ready"},
    "jobs": {"kind": "mail", "attempts": 3, "detail": "busy"},
    "measures": {"metric": "average_precision", "position": 0},
    "phases": {"detail": "classes", "freeze": "never", "admission": "everyone", "competition_keys": [COMPETITION]},
    "reported_results": {"kind": "baseline", "competition": COMPETITION, "mean": 0.5, "per_class": {}},
    "rescores": {"state": "running"},
    "submission_entries": {"competition": COMPETITION, "classes": list(CLASSES)},
    "submissions": {"state": "scored", "published_at": TIME},
    "users": {"role": "participant"},
}
_WITHOUT_ROWS = ("alembic_version", "leaderboard_revisions")  # triggers fill the second
# What can only be set when the row that it refers to is there.
_POINTERS = (("phases", "current_scoring_id", "scorings"), ("submissions", "current_evaluation_id", "evaluations"))
_NOT_OF_SUBMISSIONS = {"phases", "outbox", "users", "methods"}
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Filled:
    """What was added.

    Attributes:
        challenge: its short name.
        leaderboards: by key of the phase, methods with their means, best first; classes have the same scores.
        mail: the messages that wait, each with a job that was tried three times.
        rescored: the submissions of the re-score that runs.
    """

    challenge: str
    leaderboards: Mapping[str, Sequence[tuple[str, float]]]
    mail: frozenset[UUID]
    rescored: frozenset[UUID]


def fill(connection: Connection, submissions: int) -> Filled:
    """Add a challenge of two phases, published submissions of as many methods, and rows to each other table."""
    metadata = MetaData()
    metadata.reflect(connection)
    tables = {name: table for name, table in metadata.tables.items() if name not in _WITHOUT_ROWS}
    jobs = tables.pop("jobs")
    ordered = list(_by_dependency(list(tables.values())))
    counts = {"phases": len(PHASES), "outbox": WAITING_MESSAGES} | dict.fromkeys(("users", "methods"), submissions)
    rows: dict[str, list[dict[str, Any]]] = {}
    for table in ordered:
        if table.name == "submissions" or _targets(table, mandatory=True) & (counts.keys() - _NOT_OF_SUBMISSIONS):
            counts[table.name] = submissions * (len(CLASSES) if table.name == "class_scores" else 1)
        rows[table.name] = [_row(table, rows, number, submissions) for number in range(counts.get(table.name, 1))]
        connection.execute(insert(table), rows[table.name])
    for name, column, target in _POINTERS:
        changed = update(tables[name]).where(tables[name].c.id == bindparam("row")).values({column: bindparam("to")})
        targets = itertools.cycle(rows[target])
        connection.execute(changed, [{"row": row["id"], "to": next(targets)["id"]} for row in rows[name]])
    waiting = [_row(jobs, rows, number, submissions) | {"key": row["id"]} for number, row in enumerate(rows["outbox"])]
    connection.execute(insert(jobs), waiting)
    ranked = sorted(
        zip(rows["measures"], rows["methods"], rows["submissions"], strict=True), key=lambda each: -each[0]["mean"]
    )
    return Filled(
        rows["challenges"][0]["slug"],
        {
            phase["key"]: [
                (made["name"], scores["mean"]) for scores, made, entry in ranked if entry["phase_id"] == phase["id"]
            ]
            for phase in rows["phases"]
        },
        frozenset(UUID(str(row["id"])) for row in rows["outbox"]),
        frozenset(UUID(str(row["submission_id"])) for row in rows["rescore_items"]),
    )


def _by_dependency(tables: list[Table]) -> Iterator[Table]:
    """Yield tables after those that their rows must refer to."""
    found: set[str] = set()
    while len(found) < len(tables):
        for table in tables:
            if table.name not in found and _targets(table, mandatory=True) - {table.name} <= found:
                found.add(table.name)
                yield table


def _targets(table: Table, *, mandatory: bool = False) -> set[str]:
    keys = (key for key in table.foreign_keys if not (mandatory and key.parent.nullable))
    return {key.column.table.name for key in keys}


def _row(
    table: Table, rows: Mapping[str, Sequence[Mapping[str, Any]]], number: int, submissions: int
) -> dict[str, Any]:
    """Return a row that refers to the rows with the same number, or starts again where there are fewer."""
    mean = round((number * 7 % submissions + 1) / (submissions + 1), 4)  # as shown; different ones, in no order
    given = {"mean": mean, "value": mean, "class_name": CLASSES[number // submissions % len(CLASSES)]}
    given |= {"key": PHASES[number % len(PHASES)]} if table.name == "phases" else {}
    given |= _VALUES.get(table.name, {})
    row: dict[str, Any] = {}
    for column in table.columns:
        if keys := list(column.foreign_keys):
            others = [row] if keys[0].column.table is table else rows.get(keys[0].column.table.name)
            row[column.name] = others and others[number % len(others)][keys[0].column.name]
        elif column.name in given:
            row[column.name] = given[column.name]
        elif not column.nullable:
            row[column.name] = _any_value(column)
    return row


def _any_value(column: Column[Any]) -> Any:
    """Return a value of a column's type; identifiers, texts and bytes are unique."""
    number = next(_numbers)
    if isinstance(column.type, JSON):
        return {}
    if isinstance(column.type, Uuid):
        return uuid4()
    if isinstance(column.type, CHAR):  # SQLite's identifiers
        return uuid4().hex
    values = {str: f"text{number}", bytes: number.to_bytes(32), int: 1, float: 0.5, bool: False, datetime: TIME}
    return values[column.type.python_type]
