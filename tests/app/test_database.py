"""What the transactions of `Database` promise."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, closing
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import Column, Integer, MetaData, Table, event, insert, text
from sqlalchemy.exc import InternalError, OperationalError
from sqlalchemy.orm import Session

from vocboard.app import database as app_database
from vocboard.app.database import Database, lock_for_transaction


def waits_for_the_disk(session: Session) -> bool:
    return session.scalar(text("SHOW synchronous_commit")) == "on"


def wait_for_the_disk(connection: psycopg.Connection, _record: object) -> None:
    connection.execute("SET synchronous_commit TO on")
    connection.commit()


@pytest.mark.services
def test_only_a_durable_transaction_waits_for_the_disk(postgres_url: str) -> None:
    database = Database(postgres_url)
    # Test servers wait for no transaction. This connection does, as those of a real server.
    event.listen(database.engine, "connect", wait_for_the_disk)
    for durable in (True, False, True):  # one after another, on one connection of the pool
        with database.writing(durable=durable) as session:
            assert waits_for_the_disk(session) == durable
    database.close()


@pytest.mark.services
@pytest.mark.parametrize("begin", [Database.reading, Database.snapshot])
def test_what_only_reads_cannot_change_anything(
    postgres_url: str, begin: Callable[[Database], AbstractContextManager[Session]]
) -> None:
    database = Database(postgres_url)
    with database.writing() as session:
        session.execute(text("CREATE TABLE things (number integer)"))
    with pytest.raises(InternalError, match="read-only transaction"), begin(database) as session:
        session.execute(text("INSERT INTO things VALUES (1)"))
    with database.reading() as session:
        assert session.scalars(text("SELECT number FROM things")).all() == []
    database.close()


@pytest.mark.services
def test_reading_keeps_the_statements_that_the_server_has_prepared(postgres_url: str) -> None:
    database = Database(postgres_url)
    for begin in (database.reading, database.snapshot):
        for _ in range(10):  # psycopg prepares what is executed for the sixth time
            with begin() as session:
                session.execute(text("SELECT 1"))
                prepared = session.scalar(text("SELECT count(*) FROM pg_prepared_statements"))
        assert prepared
    database.close()


@pytest.mark.services
def test_rows_that_are_inserted_together_are_one_statement(postgres_url: str) -> None:
    things = Table("things", MetaData(), Column("number", Integer))
    with closing(Database(postgres_url)) as database, database.writing() as session:
        things.create(session.connection())
        session.execute(insert(things), [{"number": number} for number in range(100)])
        # PostgreSQL numbers the statements of a transaction, and notes with each row which one has inserted it.
        counted = session.execute(text("SELECT count(*), count(DISTINCT cmin::text) FROM things")).one()
    assert counted == (100, 1)


@pytest.mark.services
def test_who_pauses_with_a_lock_loses_it(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_database, "MAX_PAUSE_WITH_LOCK", timedelta(milliseconds=100))
    with closing(Database(postgres_url)) as database:
        with ExitStack() as stack:
            stopped = stack.enter_context(database.writing())
            lock_for_transaction(stopped, "uploads")
            with database.writing() as other:
                lock_for_transaction(other, "uploads")  # waits until the server ends the first one
            with pytest.raises(OperationalError):
                stopped.execute(text("SELECT 1"))
            stopped.rollback()
        with database.writing() as session:
            assert session.scalar(text("SHOW idle_in_transaction_session_timeout")) == "0"


@pytest.mark.services
def test_the_server_notices_machines_that_disappear(postgres_url: str) -> None:
    with closing(Database(postgres_url)) as database, database.reading() as session:
        shown = [session.scalar(text(f"SHOW tcp_keepalives_{name}")) for name in ("idle", "interval", "count")]
    assert shown == ["30", "10", "3"]
