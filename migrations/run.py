"""Migrates a database to the current schema."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script.revision import ResolutionError
from alembic.util import CommandError
from sqlalchemy.engine import make_url

HERE = Path(__file__).parent


def config(database_url: str) -> Config:
    """Return Alembic's configuration for one database."""
    settings = Config()
    settings.set_main_option("script_location", str(HERE).replace("%", "%%"))
    settings.set_main_option("path_separator", "os")
    settings.attributes["database_url"] = database_url
    return settings


def upgrade(database_url: str) -> None:
    """Run missing migrations in one transaction, and set the privileges of the processes' roles.

    Safe to run in several processes at once, which wait for each other. Creates the directory of an SQLite file.

    Raises:
        SystemExit: the database was created by another version of vocboard, and this one cannot migrate it.
    """
    url = make_url(database_url)
    if url.get_backend_name() == "sqlite" and url.database:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    try:
        command.upgrade(config(database_url), "head")
    except CommandError as error:
        if not isinstance(error.__cause__, ResolutionError):
            raise
        raise SystemExit(
            f"vocboard: the database {url.render_as_string(hide_password=True)} was created by another version, "
            f"either newer than this one or from before the first release ({error}). Install that version, or start "
            f"with a new database."
        ) from error
