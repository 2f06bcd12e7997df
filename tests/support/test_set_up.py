"""Both set-ups give a test what its settings need, with all tables and nothing in them."""

import sqlalchemy as sa


def test_database_has_all_tables_and_no_people(database_url: str, set_up: str) -> None:
    engine = sa.create_engine(database_url)
    assert engine.dialect.name == {"embedded": "sqlite", "real": "postgresql"}[set_up]
    with engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM users")) == 0
        connection.execute(sa.text("SELECT 1 FROM submissions"))
    engine.dispose()


def test_broker_is_of_the_same_set_up(broker_url: str, set_up: str) -> None:
    assert broker_url.partition(":")[0] == {"embedded": "filesystem", "real": "redis"}[set_up]


def test_database_without_tables_has_none(empty_postgres_url: str) -> None:
    engine = sa.create_engine(empty_postgres_url)
    assert sa.inspect(engine).get_table_names() == []
    engine.dispose()
