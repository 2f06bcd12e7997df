"""Triggers that increment a challenge's leaderboard revision in the transaction that changes its leaderboards.

A web process caches leaderboards and compares this number at each request, so no process has to tell another about
a change. If you add a table that leaderboards show, add it to `CHANGES` and to
`tests/app/leaderboards/test_revisions.py`, which has a case for each kind of change.

Installed after each migration: SQLite loses a table's triggers when Alembic recreates the table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, text

from vocboard.app.jobs.models import Kind
from vocboard.app.jobs.service import PRIORITY

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
    "frozen_leaderboards": Change("{row}.challenge_id"),
    "methods": Change("{row}.challenge_id", (UPDATE,)),  # a new one has no submissions yet
    "phases": Change("{row}.challenge_id"),
    "reported_results": Change("{row}.challenge_id"),
    "teams": Change("{row}.challenge_id", (UPDATE,)),  # its name; a new one has no submissions yet
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
# The statistics of a challenge are out of date when its revision changes: see `app.leaderboards.statistics_queue`.
_ADD_JOB = (
    "INSERT INTO jobs (id, created_at, kind, key, priority, not_before, attempts)"  # noqa: S608  # our own constants
    f" VALUES ({{id}}, {{now}}, '{Kind.STATISTICS}', NEW.challenge_id, {PRIORITY[Kind.STATISTICS]}, {{now}}, 0)"
    " ON CONFLICT DO NOTHING;"  # our own constants
)
_OF_REVISIONS = "leaderboard_revision_jobs"


def install(connection: Connection, changes: Mapping[str, Change] = CHANGES) -> None:
    """Create the triggers, or replace them with their current definition."""
    create = _create_on_sqlite if connection.dialect.name == "sqlite" else _create_on_postgresql
    for table, change in changes.items():
        create(connection, table, change)
    _install_jobs(connection)


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


def _install_jobs(connection: Connection) -> None:
    """Add a job in the transaction that changes a revision."""
    if connection.dialect.name == "sqlite":
        # As SQLAlchemy stores identifiers and times.
        job = _ADD_JOB.format(id="lower(hex(randomblob(16)))", now="strftime('%Y-%m-%d %H:%M:%f000', 'now')")
        for event in (INSERT, UPDATE):
            name = f"{_OF_REVISIONS}_{event.lower()}"
            connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name}")
            connection.exec_driver_sql(f"CREATE TRIGGER {name} AFTER {event} ON leaderboard_revisions BEGIN {job} END")
        return
    _replace_function(connection, _OF_REVISIONS, _ADD_JOB.format(id="gen_random_uuid()", now="now()"))
    if not _has_trigger(connection, _OF_REVISIONS, "leaderboard_revisions"):
        connection.execute(
            text(
                f"CREATE TRIGGER {_OF_REVISIONS} AFTER INSERT OR UPDATE ON leaderboard_revisions "
                f"FOR EACH ROW EXECUTE FUNCTION {_OF_REVISIONS}()"
            )
        )


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
    _replace_function(connection, name, branches)
    if not _has_trigger(connection, name, table):
        connection.execute(
            text(
                f"CREATE CONSTRAINT TRIGGER {name} AFTER INSERT OR UPDATE OR DELETE ON {table} "
                f"DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION {name}()"
            )
        )


def _replace_function(connection: Connection, name: str, body: str) -> None:
    connection.execute(
        text(
            f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER "
            f"SET search_path = public, pg_temp AS $revision$ BEGIN {body} RETURN NULL; END $revision$"
        )
    )


def _has_trigger(connection: Connection, name: str, table: str) -> bool:
    """Whether a table has a trigger. Replacing one locks its table, which is not needed: its function changes."""
    query = "SELECT count(*) FROM pg_trigger WHERE tgname = :name AND tgrelid = to_regclass(:table)"
    return bool(connection.scalar(text(query), {"name": name, "table": f"public.{table}"}))
