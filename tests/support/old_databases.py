"""Rows for databases of earlier revisions: a row in each table, and a leaderboard of two methods.

What to insert is read from the tables that the database has, so a new table or column needs nothing here, except an
entry in `_VALUES` where the leaderboard needs a certain value.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import CHAR, JSON, Column, Connection, MetaData, Table, Uuid, insert, inspect, update

from vocboard.migrations.leaderboard_revisions import CHANGES, Change, install

TIME = datetime(2026, 11, 21, 12, tzinfo=UTC)
MEANS = (0.25, 0.75)  # of the two methods, and of each of their classes; in the order of submission
COMPETITION, CLASSES = "comp3", ("aeroplane", "bicycle")
_VALUES: Mapping[str, Mapping[str, Any]] = {
    "challenges": {
        "edition": "voc2007",
        "visibility": "public",
        "overall_rank": "mean_rank",
        "detail": "classes",
        "decimals": 4,
        "freeze": "never",
        "admission": "everyone",
    },
    "challenge_competitions": {"key": COMPETITION},
    "challenge_phases": {"detail": "classes", "freeze": "never", "admission": "everyone", "competition_keys": []},
    "competition_results": {"competition": COMPETITION, "task": "detection", "not_entered": []},
    "frozen_leaderboards": {"phase_key": "main"},
    "ground_truth_versions": {"state": "ready", "phase_key": "main"},
    "measures": {"metric": "average_precision", "position": 0},
    "phases": {
        "key": "main",
        "detail": "classes",
        "freeze": "never",
        "admission": "everyone",
        "competition_keys": [COMPETITION],
    },
    "rescores": {"state": "discarded"},
    "submission_entries": {"competition": COMPETITION, "classes": list(CLASSES)},
    "submissions": {"state": "scored", "published_at": TIME, "phase_key": "main"},
    "users": {"role": "participant"},
}
_WITHOUT_ROWS = ("alembic_version", "leaderboard_revisions")  # triggers fill the second
# What can only be set when the row that it refers to is there.
_POINTERS = (
    ("challenges", "current_scoring_id", "scorings"),
    ("phases", "current_scoring_id", "scorings"),
    ("submissions", "current_evaluation_id", "evaluations"),
)
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Filled:
    """What was added.

    Attributes:
        challenge: its short name.
        methods: the names of its published methods, by rank.
    """

    challenge: str
    methods: tuple[str, ...]


def install_triggers(connection: Connection) -> None:
    """Install triggers like those that earlier versions had: on the same tables, without columns that came later."""
    found = inspect(connection)
    changes = {}
    for table in found.get_table_names():
        columns = {column["name"] for column in found.get_columns(table)}
        if table in CHANGES and columns & {"challenge_id", "slug"}:
            changes[table] = Change("{row}.id" if "slug" in columns else "{row}.challenge_id", CHANGES[table].events)
    install(connection, changes)


def fill(connection: Connection) -> Filled:
    """Add a challenge with two published methods, and a row to each other table."""
    metadata = MetaData()
    metadata.reflect(connection)
    tables = list(_by_dependency([table for name, table in metadata.tables.items() if name not in _WITHOUT_ROWS]))
    of_methods = {"users", "methods", "submissions"}
    for table in tables:
        if table.name != "challenges" and _targets(table) & (of_methods - {"users", "methods"}):
            of_methods.add(table.name)
    rows: dict[str, dict[str, Any]] = {}
    methods: list[str] = []
    for mean in MEANS:
        for table in tables:
            if table.name in rows and table.name not in of_methods:
                continue
            for class_name in CLASSES if table.name == "class_scores" else ("",):
                rows[table.name] = _row(table, rows, {"mean": mean, "value": mean, "class_name": class_name})
                connection.execute(insert(table).values(rows[table.name]))
        for name, column, target in _POINTERS:
            if name in metadata.tables and column in metadata.tables[name].columns:
                table = metadata.tables[name]
                connection.execute(
                    update(table).where(table.c.id == rows[name]["id"]).values({column: rows[target]["id"]})
                )
        methods.insert(0, rows["methods"]["name"])
    return Filled(rows["challenges"]["slug"], tuple(methods))


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


def _row(table: Table, rows: Mapping[str, Mapping[str, Any]], scores: Mapping[str, Any]) -> dict[str, Any]:
    given = {**scores, **_VALUES.get(table.name, {})}
    row: dict[str, Any] = {}
    for column in table.columns:
        if keys := list(column.foreign_keys):
            target = row if keys[0].column.table is table else rows.get(keys[0].column.table.name)
            row[column.name] = target and target[keys[0].column.name]
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
