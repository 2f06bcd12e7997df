"""Fixtures: the databases and brokers of both set-ups, fresh ones for every test.

- `database_url` and `broker_url`: a test that asks for one of them runs twice, on the embedded set-up (SQLite and a
  directory of messages) and on the real one (PostgreSQL and Redis). The database has the newest migration's tables.
- `postgres_url` and `redis_url`: those of the real set-up alone.
- `empty_postgres_url` and `empty_sqlite_url`: databases without tables, for tests of the migrations themselves.
- `postgres` and `redis_server_url`: the servers, one each per test process, started when first asked for.

Every URL is a string as settings take it, with its password.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

import pytest
import redis
from sqlalchemy.engine import URL, make_url

from tests.support.postgres import PostgresServer, postgres_server
from tests.support.processes import UnavailableError, skip_or_fail
from tests.support.redis_server import redis_server
from tests.support.reused_databases import ReusedDatabases
from tests.support.run_files import made_once
from vocboard import migrations
from vocboard.app.settings import Settings

Service = TypeVar("Service")
EMBEDDED, REAL = "embedded", "real"


@contextlib.contextmanager
def needed(service: AbstractContextManager[Service]) -> Iterator[Service]:
    """Give a service until the block ends; skip (in CI: fail) the test where it cannot be had."""
    with contextlib.ExitStack() as stack:
        try:
            running = stack.enter_context(service)
        except UnavailableError as reason:
            skip_or_fail(str(reason))
        yield running


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Give this process's PostgreSQL server."""
    with needed(postgres_server()) as server:
        yield server


@pytest.fixture(scope="session")
def redis_server_url() -> Iterator[str]:
    """Give this process's Redis server, as a URL without a database number."""
    with needed(redis_server()) as url:
        yield url


@pytest.fixture(scope="session")
def postgres_template(postgres: PostgresServer) -> Iterator[str]:
    """Give the name of a migrated database that others are copied from."""
    url = postgres.create_database()
    try:
        migrations.upgrade(in_full(url))
        yield str(url.database)
    finally:
        postgres.drop_database(url)


@pytest.fixture(scope="session")
def sqlite_template() -> Path:
    """Give the file of a migrated database that others are copied from."""
    return _sqlite_template()


def _sqlite_template() -> Path:
    return made_once("vocboard.sqlite", lambda file: migrations.upgrade(f"sqlite:///{file}"))


def make_tables(settings: Settings) -> None:
    """Make the database of an embedded set-up that has none yet: with all tables, and no rows but migrations'."""
    file = Path(make_url(settings.database).database or "")
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(_sqlite_template(), file)


@pytest.fixture
def empty_postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """Give a PostgreSQL database without tables."""
    url = postgres.create_database()
    yield in_full(url)
    postgres.drop_database(url)


@pytest.fixture
def empty_sqlite_url(tmp_path: Path) -> str:
    """Give an SQLite database without tables."""
    return f"sqlite:///{tmp_path / 'empty.sqlite'}"


@pytest.fixture(scope="session")
def postgres_databases(postgres: PostgresServer, postgres_template: str) -> Iterator[ReusedDatabases]:
    """Give this process's migrated databases."""
    databases = ReusedDatabases(postgres, postgres_template)
    yield databases
    databases.close()


@pytest.fixture
def postgres_url(postgres_databases: ReusedDatabases) -> Iterator[str]:
    """Give a PostgreSQL database with all tables and no rows but those that migrations insert."""
    url = postgres_databases.take()
    yield in_full(url)
    postgres_databases.give_back(url)


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """Give an SQLite database with all tables and no rows but those that migrations insert."""
    return f"sqlite:///{shutil.copy(sqlite_template, tmp_path / 'vocboard.sqlite')}"


@pytest.fixture(scope="module")
def shared_database_url(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give all tests of a file a database as `sqlite_url` is."""
    return f"sqlite:///{shutil.copy(sqlite_template, tmp_path_factory.mktemp('database') / 'vocboard.sqlite')}"


@pytest.fixture
def redis_url(redis_server_url: str, worker_number: int) -> str:
    """Give a Redis database with nothing in it."""
    url = f"{redis_server_url}/{worker_number % 16}"  # a server given by address is shared by all test processes
    with contextlib.closing(redis.Redis.from_url(url)) as client:
        client.flushdb()
    return url


@pytest.fixture(scope="session")
def worker_number() -> int:
    """Give the number of this process among those that pytest-xdist runs tests in; 0 without it."""
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


@pytest.fixture(params=[EMBEDDED, pytest.param(REAL, marks=pytest.mark.services)])
def set_up(request: pytest.FixtureRequest) -> str:
    """Give the name of the set-up that the test runs on: "embedded", then "real"."""
    return str(request.param)


@pytest.fixture
def database_url(set_up: str, request: pytest.FixtureRequest) -> str:
    """Give the set-up's database: SQLite or PostgreSQL, with all tables."""
    return str(request.getfixturevalue("sqlite_url" if set_up == EMBEDDED else "postgres_url"))


@pytest.fixture
def broker_url(set_up: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give the set-up's broker: a directory that does not exist yet, or Redis, with no message in it."""
    return f"filesystem://{tmp_path / 'broker'}" if set_up == EMBEDDED else str(request.getfixturevalue("redis_url"))


def in_full(url: URL) -> str:
    """Return a URL as a string that works, unlike `str(url)`, which leaves the password out."""
    return url.render_as_string(hide_password=False)
