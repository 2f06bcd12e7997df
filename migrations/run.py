"""Migrates a database to the current schema."""

import logging
import re
import time
from contextlib import closing
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.script.revision import ResolutionError
from alembic.util import CommandError
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, OperationalError

from vocboard.app.database import Database, is_conflict

HERE = Path(__file__).parent
LAST_WITH_OLDER_REVISIONS = "3e73089f"  # the commit whose migrations lead to the baseline

ATTEMPTS, PAUSE_SECONDS = 100, 0.5
LOCK_NOT_AVAILABLE = "55P03"  # SQLSTATE

_log = logging.getLogger(__name__)


def config(database_url: str) -> Config:
    """Return Alembic's configuration for one database."""
    settings = Config()
    settings.set_main_option("script_location", str(HERE).replace("%", "%%"))
    settings.set_main_option("path_separator", "os")
    settings.attributes["database_url"] = database_url
    return settings


def upgrade(database_url: str, revision: str = "head") -> None:
    """Run missing migrations in one transaction, and set the privileges of the processes' roles.

    Safe to run in several processes at once, which wait for each other, and while web processes and workers use the
    database: it gives way to them, and starts again. Creates the directory of an SQLite file.

    Args:
        revision: to stop at, which sets no privileges, unless it is the newest.

    Raises:
        SystemExit: the database cannot be reached, or this version cannot migrate it, because it is of a newer version,
            or older than the baseline.
    """
    url = make_url(database_url)
    if url.get_backend_name() == "sqlite" and url.database:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    for is_last in (*[False] * (ATTEMPTS - 1), True):
        try:
            command.upgrade(config(database_url), revision)
        except CommandError as error:
            if not isinstance(error.__cause__, ResolutionError):
                raise
            require_newest(database_url)  # it says what to do
            raise
        except DBAPIError as error:
            gave_way = getattr(error.orig, "sqlstate", None) == LOCK_NOT_AVAILABLE
            has_no_connection = error.statement is None and isinstance(error, OperationalError)
            if has_no_connection and not is_conflict(error):
                shown = url.render_as_string(hide_password=True)
                raise SystemExit(f"vocboard: the database {shown} cannot be used: {error.orig}") from error
            if is_last or not (gave_way or is_conflict(error)):
                raise
            _log.warning("a process that uses the database was in the way; trying again: %s", error.orig)
            time.sleep(PAUSE_SECONDS)
        else:
            return


def require_newest(database_url: str) -> None:
    """Check that a process that is about to start finds the tables that it was written for.

    A database that cannot be reached is not checked: the process answers 503 until it can be.

    Raises:
        SystemExit: the database has not been migrated, or a newer version has migrated it.
    """
    if is_missing(database_url):
        raise SystemExit(
            f"vocboard: there is no database {database_url}. Set VOCBOARD_DATA_DIRECTORY or VOCBOARD_DATABASE_URL to "
            "the server's, or run `vocboard migrate` for a new one."
        )
    script = ScriptDirectory.from_config(config(database_url))
    newest, baseline = script.get_current_head(), script.get_base()
    try:
        with closing(Database(database_url)) as database, database.engine.connect() as connection:
            found = MigrationContext.configure(connection).get_current_revision()
    except OperationalError as error:
        _log.warning("cannot check that the database is migrated: %s", error.orig)
        return
    if found == newest:
        return
    shown = make_url(database_url).render_as_string(hide_password=True)
    if found is None or any(each.revision == found for each in script.walk_revisions()):
        raise SystemExit(
            f"vocboard: the database {shown} is not migrated: it is at revision {found or 'none'}, and this version "
            f"needs {newest}. Run `vocboard migrate` as the owner of its tables (with docker compose: "
            f"`docker compose run --rm migrate`), and start this process again."
            + ("" if found else " If it is not the server's, set VOCBOARD_DATA_DIRECTORY or VOCBOARD_DATABASE_URL.")
        )
    if _is_dated(found) and found < str(baseline):
        raise SystemExit(
            f"vocboard: the database {shown} is at revision {found}, which this version cannot upgrade. Run `vocboard "
            f"migrate` of commit {LAST_WITH_OLDER_REVISIONS} first, which upgrades it to revision {baseline}, then "
            f"that of this version."
        )
    raise SystemExit(
        f"vocboard: the database {shown} was migrated by another version, to revision {found}; this version needs "
        f"{newest}. Install that version, or restore the backup from before the migration."
    )


def is_missing(database_url: str) -> bool:
    """Whether this is an SQLite file that is not there: connecting to it would make an empty one."""
    url = make_url(database_url)
    is_file = url.get_backend_name() == "sqlite" and not (url.database or "").startswith((":", "file:"))
    return is_file and not Path(url.database or "").exists()


def _is_dated(revision: str) -> bool:
    """Whether a revision is named after its date, as in `migrations.drafts`; such names sort by time."""
    return re.match(r"\d{4}_\d\d_\d\d_\d{4}_", revision) is not None
