"""Fixtures of the tests over HTTP: the site, on both set-ups, and people with tokens."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.site import Site, serving
from vocboard.app.settings import Settings


@pytest.fixture
def settings(database_url: str, broker_url: str, tmp_path: Path) -> Settings:
    """Give the settings of one of the two set-ups."""
    return Settings(data_directory=tmp_path / "data", database_url=database_url, broker_url=broker_url)


@pytest.fixture
def site(settings: Settings) -> Iterator[Site]:
    """Give the running web application."""
    with serving(settings) as running:
        yield running


@pytest.fixture
def embedded_site(sqlite_url: str, tmp_path: Path) -> Iterator[Site]:
    """Give a site of the embedded set-up, for what does not depend on the database."""
    with serving(Settings(data_directory=tmp_path / "data", database_url=sqlite_url)) as running:
        yield running


@pytest.fixture(scope="module")
def shared_site(shared_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Give a site of the embedded set-up that all tests of a file share: each looks only at what it adds itself."""
    with serving(Settings(data_directory=tmp_path_factory.mktemp("site"), database_url=shared_database_url)) as running:
        yield running
