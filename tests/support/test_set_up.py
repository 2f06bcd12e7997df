"""Both set-ups give a test what its settings need, with all tables and nothing in them."""

import contextlib

import pytest
import sqlalchemy as sa

from tests.support.factories import make_challenge
from tests.support.reused_databases import ReusedDatabases
from tests.support.services import in_full
from vocboard.app.database import Database
from vocboard.app.models import Base


def test_database_and_broker_are_of_the_set_up(database_url: str, broker_url: str, set_up: str) -> None:
    expected = {"embedded": ("sqlite", "filesystem"), "real": ("postgresql+psycopg", "redis")}[set_up]
    assert (database_url.partition(":")[0], broker_url.partition(":")[0]) == expected


@pytest.mark.services
def test_a_database_is_emptied_and_used_again(postgres_databases: ReusedDatabases) -> None:
    url = postgres_databases.take()
    with contextlib.closing(Database(in_full(url))) as database:
        with database.writing() as session:
            make_challenge(session)
        with database.engine.connect():  # left open
            postgres_databases.give_back(url)
    assert postgres_databases.take() == url
    with contextlib.closing(Database(in_full(url))) as database, database.reading() as session:
        filled = [name for name, table in Base.metadata.tables.items() if session.query(table).first()]
    postgres_databases.give_back(url)
    assert filled == []


@pytest.mark.services
@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE users ADD more text",
        "ALTER TABLE users DISABLE TRIGGER ALL",
        f"DROP INDEX {min(str(index.name) for index in Base.metadata.tables['submissions'].indexes)}",
        "GRANT SELECT ON users TO public",
    ],
)
def test_a_database_whose_schema_changed_is_not_used_again(postgres_databases: ReusedDatabases, change: str) -> None:
    url = postgres_databases.take()
    with contextlib.closing(Database(in_full(url))) as database, database.writing() as session:
        session.execute(sa.text(change))
    postgres_databases.give_back(url)
    other = postgres_databases.take()
    postgres_databases.give_back(other)
    assert other != url
