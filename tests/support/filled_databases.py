"""Fixtures: databases with the gallery of three published methods, fresh ones for every test.

Filling one takes a second, so that each test gets a copy of one that its process fills once.

- `gallery_url`: a test that asks for it runs twice, as with `database_url`.
- `gallery_site` and `gallery`: the embedded set-up's as a running site, and what is in it.
"""

import contextlib
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.gallery import Gallery, fill
from tests.support.postgres import PostgresServer
from tests.support.services import EMBEDDED, in_full, make_tables
from tests.support.site import Site, serving
from vocboard.app.database import Database
from vocboard.app.settings import Settings

METHODS = 3
GALLERY = "gallery.pickle"  # in the data directory


def furnish(directory: Path, *, methods: int = METHODS) -> None:
    """Make the data directory of an embedded set-up with the gallery."""
    settings = Settings(data_directory=directory)
    make_tables(settings)
    with contextlib.closing(Database(settings.database)) as database, database.writing() as session:
        gallery = fill(session, methods=methods)
    (directory / GALLERY).write_bytes(pickle.dumps(gallery))


def read_gallery(directory: Path) -> Gallery:
    """Return what is in a data directory that `furnish` has made."""
    gallery: Gallery = pickle.loads((directory / GALLERY).read_bytes())
    return gallery


@pytest.fixture(scope="session")
def gallery_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the data directory that others are copied from.

    Each process fills its own: the names that `make_user` numbers are unique in a process.
    """
    directory = tmp_path_factory.mktemp("gallery") / "data"
    furnish(directory)
    return directory


@pytest.fixture
def gallery(gallery_directory: Path) -> Gallery:
    """Give what is in `gallery_site`."""
    return read_gallery(gallery_directory)


@pytest.fixture
def gallery_site(gallery_directory: Path, tmp_path: Path) -> Iterator[Site]:
    """Give a site of the embedded set-up with the gallery, for what does not depend on the database."""
    with serving(Settings(data_directory=shutil.copytree(gallery_directory, tmp_path / "data"))) as running:
        yield running


@pytest.fixture(scope="session")
def gallery_template(postgres: PostgresServer, postgres_template: str) -> Iterator[str]:
    """Give the name of the PostgreSQL database with the gallery that others are copied from."""
    url = postgres.create_database(template=postgres_template)
    with contextlib.closing(Database(in_full(url))) as database, database.writing() as session:
        fill(session, methods=METHODS)
    yield str(url.database)
    postgres.drop_database(url)


@pytest.fixture
def gallery_postgres_url(postgres: PostgresServer, gallery_template: str) -> Iterator[str]:
    """Give a PostgreSQL database with the gallery."""
    url = postgres.create_database(template=gallery_template)
    yield in_full(url)
    postgres.drop_database(url)


@pytest.fixture
def gallery_url(set_up: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give the set-up's database with the gallery."""
    if set_up == EMBEDDED:
        directory: Path = request.getfixturevalue("gallery_directory")
        return Settings(data_directory=shutil.copytree(directory, tmp_path / "gallery")).database
    return str(request.getfixturevalue("gallery_postgres_url"))
