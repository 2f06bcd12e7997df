"""Fixtures of tests of leaderboards."""

from collections.abc import Iterator

import pytest

from vocboard.app.database import Database


@pytest.fixture
def filled(gallery_url: str) -> Iterator[Database]:
    """Give a database with the gallery."""
    opened = Database(gallery_url)
    yield opened
    opened.close()
