"""Triggers that increment a challenge's leaderboard revision in the transaction that changes its leaderboards.

A web process caches leaderboards and compares this number at each request, so no process has to tell another about
a change. If you add a table that leaderboards show, add it to `CHANGES` and to
`tests/app/leaderboards/test_revisions.py`, which has a case for each kind of change.

Installed after each migration: SQLite loses a table's triggers when Alembic recreates the table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, text

INSERT, UPDATE, DELETE = "INSERT", "UPDATE", "DELETE"
EVENTS = (INSERT, UPDATE, DELETE)
_INCREMENT = "UPDATE leaderboard_revisions SET revision = revision + 1"
_ROWS = {INSERT: ("NEW",), UPDATE: ("OLD", "NEW"), DELETE: ("OLD",)}


@dataclass(frozen=True, slots=True)
class Change:
    """Which challenge's leaderboards a change of a table's row may alter.

    Attributes:
        challenge: SQL for the challenge's id, where `{row}` is the changed row; NULL if no leaderboard shows the row.
        events: the changes that matter.
    """

    challenge: str
    events: tuple[str, ...] = EVENTS

    def statement(self, event: str) -> str:
        """SQL that increments the revision."""
        ids = ", ".join(self.challenge.format(row=row) for row in _ROWS[event])
        return f"{_INCREMENT} WHERE challenge_id IN ({ids});"


# Evaluations and scores are missing here: they are never changed, and shown once they are a submission's current ones.
CHANGES: Mapping[str, Change] = {
    "board_statistics": Change("{row}.challenge_id"),
    "challenges": Change("{row}.id", (UPDATE,)),
    "challenge_competitions": Change("{row}.challenge_id"),
    "challenge_phases": Change("{row}.challenge_id"),
    "frozen_leaderboards": Change("{row}.challenge_id"),
    "methods": Change("{row}.challenge_id", (UPDATE,)),  # a new one has no submissions yet
    "rescores": Change("CASE WHEN {row}.state = 'applied' THEN {row}.challenge_id END", (UPDATE,)),  # announced
    "submission_entries": Change(
        "(SELECT challenge_id FROM submissions WHERE id = {row}.submission_id AND published_at IS NOT NULL)", (UPDATE,)
    ),
    # Frozen leaderboards no longer show what organisers disqualify, unpublish or fail, whether or not it is published.
    "submissions": Change(
        "CASE WHEN {row}.published_at IS NOT NULL OR {row}.disqualified_at IS NOT NULL"
        " OR {row}.held_back_at IS NOT NULL OR {row}.state = 'failed' THEN {row}.challenge_id END"
    ),
}
_CREATE = "INSERT INTO leaderboard_revisions (challenge_id, revision) VALUES (NEW.id, 1);"


def install(connection: Connection, changes: Mapping[str, Change] = CHANGES) -> None:
    """Create the triggers, or replace them with their current definition."""
    create = _create_on_sqlite if connection.dialect.name == "sqlite" else _create_on_postgresql
    for table, change in changes.items():
        create(connection, table, change)


def drop(connection: Connection) -> None:
    """Drop the triggers before migrations.

    PostgreSQL cannot alter a table while deferred triggers wait for its changed rows; SQLite cannot recreate a table
    that the trigger of another one reads.
    """
    if connection.dialect.name == "sqlite":
        found = "SELECT name, '' FROM sqlite_master WHERE type = 'trigger' AND name LIKE :pattern ESCAPE '!'"
    else:
        found = "SELECT tgname, ' ON ' || tgrelid::regclass FROM pg_trigger WHERE tgname LIKE :pattern ESCAPE '!'"
    for name, of_table in connection.execute(text(found), {"pattern": "leaderboard!_revision!_%"}).all():
        connection.execute(text(f"DROP TRIGGER {name}{of_table}"))


def _statements(table: str, change: Change) -> Iterator[tuple[str, str]]:
    """Yield events of a table, each with what to do."""
    if table == "challenges":
        yield INSERT, _CREATE
    for event in change.events:
        yield event, change.statement(event)


def _create_on_sqlite(connection: Connection, table: str, change: Change) -> None:
    for event, statement in _statements(table, change):
        name = f"leaderboard_revision_{table}_{event.lower()}"
        connection.execute(text(f"DROP TRIGGER IF EXISTS {name}"))
        connection.execute(text(f"CREATE TRIGGER {name} AFTER {event} ON {table} BEGIN {statement} END"))


def _create_on_postgresql(connection: Connection, table: str, change: Change) -> None:
    """Create a deferred trigger and its function.

    Deferred to the end of the transaction, so that the revision is the last row it locks: transactions that change the
    same leaderboards cannot wait for each other in a circle. The function runs with its owner's privileges, because the
    processes' roles may only read the revision.
    """
    name = f"leaderboard_revision_{table}"
    branches = "".join(
        f"IF TG_OP = '{event}' THEN {statement} END IF; " for event, statement in _statements(table, change)
    )
    connection.execute(
        text(
            f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER "
            f"SET search_path = public, pg_temp AS $revision$ BEGIN {branches} RETURN NULL; END $revision$"
        )
    )
    # Replacing a trigger locks its table, which is not needed: what may change is the function.
    exists = connection.scalar(
        text("SELECT count(*) FROM pg_trigger WHERE tgname = :name AND tgrelid = to_regclass(:table)"),
        {"name": name, "table": f"public.{table}"},
    )
    if not exists:
        connection.execute(
            text(
                f"CREATE CONSTRAINT TRIGGER {name} AFTER INSERT OR UPDATE OR DELETE ON {table} "
                f"DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION {name}()"
            )
        )
