"""What the transactions of `Database` promise."""

import psycopg
import pytest
from sqlalchemy import event, text
from sqlalchemy.orm import Session

from vocboard.app.database import Database


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
