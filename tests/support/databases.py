"""Fixtures for tests of services: the database itself, on both set-ups, and passwords that are quick to check."""

from collections.abc import Iterator

import argon2
import pytest

from app.accounts import passwords
from app.database import Database


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """Give a database with all tables and no rows."""
    opened = Database(database_url)
    yield opened
    opened.close()


@pytest.fixture(autouse=True, scope="session")
def quick_passwords() -> Iterator[None]:
    """Let argon2 do next to no work: tests sign in hundreds of times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        yield
