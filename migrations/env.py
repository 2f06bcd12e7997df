"""Alembic's environment, used by every command; see `migrations.run`."""

from alembic import context
from sqlalchemy import Connection, inspect, text

from vocboard.app.database import Database
from vocboard.app.models import Base
from vocboard.app.settings import Settings
from vocboard.migrations import drafts, leaderboard_revisions, privileges

MIGRATIONS_LOCK = 0x766F6362  # an arbitrary lock number
GIVES_WAY_AFTER = "300ms"  # deadlocks are looked for after a second (PostgreSQL documentation, `deadlock_timeout`)


def run(database: Database) -> None:
    """Run Alembic's command on a database, in one transaction."""
    with database.engine.execution_options(writing=True).connect() as connection:
        if database.is_sqlite:
            _switch_foreign_keys_off(connection)
        context.configure(
            connection=connection,
            target_metadata=Base.metadata,
            render_as_batch=database.is_sqlite,
            transactional_ddl=True,
            render_item=drafts.type_in_migration,
            process_revision_directives=drafts.name_by_date,
        )
        with context.begin_transaction():
            if not database.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": MIGRATIONS_LOCK})
            if not _is_newest():
                if not database.is_sqlite:
                    _lock_tables(connection)
                leaderboard_revisions.drop(connection)
            context.run_migrations()
            if database.is_sqlite:
                _check_foreign_keys(connection)
            if _is_newest():  # triggers and privileges are those of the newest tables
                leaderboard_revisions.install(connection)
                if not database.is_sqlite:
                    privileges.grant(connection)


def _is_newest() -> bool:
    return context.get_context().get_current_revision() == context.get_head_revision()


def _lock_tables(connection: Connection) -> None:
    """Lock all tables before anything is changed.

    It gives way to processes that use them before PostgreSQL looks for deadlocks, which might end theirs.
    """
    if tables := inspect(connection).get_table_names():
        quoted = ", ".join(f'"{name}"' for name in tables)
        connection.execute(text(f"SET LOCAL lock_timeout = '{GIVES_WAY_AFTER}'"))
        connection.execute(text(f"LOCK TABLE {quoted} IN ACCESS EXCLUSIVE MODE"))
        connection.execute(text("SET LOCAL lock_timeout = 0"))


def _switch_foreign_keys_off(connection: Connection) -> None:
    """Switch foreign keys off, because SQLite recreates changed tables, and dropping the old one would cascade."""
    connection.connection.cursor().execute("PRAGMA foreign_keys = OFF")


def _check_foreign_keys(connection: Connection) -> None:
    if broken := connection.execute(text("PRAGMA foreign_key_check")).fetchall():
        raise RuntimeError(f"the migration breaks foreign keys: {broken[:10]}")


database = Database(context.config.attributes.get("database_url") or Settings().database)
try:
    run(database)
finally:
    database.close()
