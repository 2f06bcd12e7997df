"""Bring a database to the newest migration."""

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
    """Run what is missing of the migrations, all or nothing, and set the privileges of the processes' roles.

    Several processes may do so at once: they wait for each other. The directory of an SQLite file is made.

    Raises:
        SystemExit: another version of vocboard made the database, and this one has no migrations from there.
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
            f"vocboard: the database {url.render_as_string(hide_password=True)} was made by another version, newer "
            f"than this one or from before the first release ({error}). Install it, or begin with a new database."
        ) from error
