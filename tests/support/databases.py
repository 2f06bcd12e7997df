"""Fixtures for tests of services: the database itself, the roles of its processes, and what all tests share."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import argon2
import pytest
from jinja2 import FileSystemBytecodeCache
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.util import LRUCache

from tests.support.factories import PASSWORD
from tests.support.postgres import PostgresServer
from tests.support.run_files import made_once
from tests.support.services import in_full
from vocboard.app import database as databases
from vocboard.app.accounts import passwords
from vocboard.app.database import Database
from vocboard.app.intake import reading
from vocboard.app.pages import rendering
from vocboard.migrations import privileges
from vocboard.worker import stored_columns


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """Give a database with all tables and no rows."""
    opened = Database(database_url)
    yield opened
    opened.close()


@pytest.fixture
def process_roles(postgres: PostgresServer) -> Iterator[None]:
    """Make the roles of the real set-up's processes; migrations that run from now on give them their privileges.

    Ask for it before the database, so that the roles are dropped after it.
    """
    with made_roles(postgres):
        yield


@contextlib.contextmanager
def made_roles(postgres: PostgresServer) -> Iterator[None]:
    """Make the roles of the real set-up's processes, and drop them at the end of the block."""
    server = Database(in_full(postgres.admin_url))
    with server.engine.begin() as connection:
        existing = set(connection.scalars(text("SELECT rolname FROM pg_roles")))
        made = [role for role in privileges.ROLES if role not in existing]
        for role in made:
            connection.execute(text(f"CREATE ROLE {role} NOLOGIN"))
    yield
    with server.engine.begin() as connection:
        for role in made:
            connection.execute(text(f"DROP ROLE {role}"))
    server.close()


@pytest.fixture(autouse=True, scope="session")
def quick_passwords() -> Iterator[None]:
    """Let argon2 do next to no work, and nothing estimate the usual password again: tests make thousands of people."""

    def is_guessable(password: str, about: Sequence[str]) -> bool:
        return password != PASSWORD and estimated(password, about)

    estimated = passwords.is_guessable
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "is_guessable", is_guessable)
        patch.setattr(passwords, "_hasher", argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        yield


class SharedStatements(LRUCache[Any, Any]):
    """Statements in SQL, by the name of the dialect instead of the dialect, of which each engine has its own."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get((key[0].name, *key[1:]), default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__((key[0].name, *key[1:]), value)


@pytest.fixture(autouse=True, scope="session")
def shared_statements() -> Iterator[None]:
    """Let the databases of all tests share the statements that SQLAlchemy has put into SQL.

    It keeps them by engine, those that write objects with their class. A test has an engine of its own, and would spend
    a third of its time on making them again.
    """
    shared = SharedStatements(capacity=2000)

    def create(*given: Any, **options: Any) -> Engine:
        engine = create_engine(*given, **options)
        engine.update_execution_options(compiled_cache=shared)
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(databases, "create_engine", create)
        for mapper in databases.Base.registry.mappers:
            patch.setattr(mapper, "_compiled_cache", shared)
        yield


@pytest.fixture(autouse=True, scope="session")
def shared_templates() -> Iterator[None]:
    """Let the processes of this run share the templates that Jinja has compiled: all of them take two seconds."""
    compiled = FileSystemBytecodeCache(str(made_once("templates", Path.mkdir)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rendering.environment(), "bytecode_cache", compiled)
        yield


@pytest.fixture(autouse=True, scope="session")
def shared_reading_server() -> Iterator[None]:
    """Let the sites and workers in this process fork the processes that read uploads from one program.

    Starting it takes two seconds of processor time. It keeps nothing of an upload: each is read in its own process.
    """
    server = reading.reading_server()
    with pytest.MonkeyPatch.context() as patch:
        for module in (reading, stored_columns):
            patch.setattr(module, "reading_server", lambda: server)
        patch.setattr(server, "close", lambda: None)  # by one of them
        yield
    server.close()
