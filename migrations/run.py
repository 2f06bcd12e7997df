"""Bring a database to the newest migration."""

from pathlib import Path

from alembic import command
from alembic.config import Config
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
    """
    url = make_url(database_url)
    if url.get_backend_name() == "sqlite" and url.database:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    command.upgrade(config(database_url), "head")
