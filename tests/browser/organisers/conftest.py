"""Fixtures: a site with its worker for a whole year, its organiser, and the files that she uploads."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import PATIENCE_MS, KeptPages, at_work
from tests.browser.exhibition import cookies_of
from tests.browser.organisers.clicks import Organising
from tests.support.factories import make_organiser, make_token
from tests.support.services import make_tables
from tests.support.site import Site, serving
from tests.support.small_world import packed
from vocboard.app.accounts.models import User
from vocboard.app.settings import Settings
from vocboard.commands.main import main

PATIENCE = PATIENCE_MS
EDITION = "ROADS2026"

SignedIn = Callable[[str], Page]


@dataclass(frozen=True)
class Year:
    """A site with a worker, and its organiser with a token."""

    site: Site
    organiser: User
    token: str

    @property
    def url(self) -> str:
        """Where it answers."""
        return self.site.url


@pytest.fixture(scope="package")
def year(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Year]:
    """Give a running site; each test has challenges of its own."""
    directory = tmp_path_factory.mktemp("year")
    with at_work(Settings(data_directory=directory / "data"), directory / "worker.log") as site:
        with site.writing() as session:
            organiser = make_organiser(session, name="Olga Organiser")
            token = make_token(session, organiser)
        yield Year(site, organiser, token)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Site]:
    """Give another server, without a worker."""
    settings = Settings(data_directory=tmp_path / "elsewhere")
    make_tables(settings)
    with serving(settings) as site:
        yield site


@pytest.fixture(scope="package")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Give what `vocboard new-edition` writes, and its tree packed: as it is, faulty, corrected and misspelt."""
    samples, output = tmp_path_factory.mktemp("samples") / "new-edition", tmp_path_factory.mktemp("files")
    answers = {"name": EDITION, "title": "Road users", "tasks": "detection", "classes": "car, bicycle, person"}
    given = [
        f"--{name}={text}" for name, text in {**answers, "overlap": "0.5", "image-set": "test", "by": "none"}.items()
    ]
    assert main(["new-edition", f"--output={samples}", *given]) == 0
    tree = {
        path.relative_to(samples).as_posix(): path.read_bytes()
        for path in (samples / EDITION).rglob("*")
        if path.suffix in {".xml", ".txt"}
    }
    first, second = sorted(name for name in tree if name.endswith(".xml"))[-2:]
    corrected = tree[first].replace(b"<name>car</name>", b"<name>bicycle</name>", 1)
    assert corrected != tree[first]
    misspelt = tree[first].replace(b"<name>car</name>", b"<name>Bicycle</name>", 1)
    trees = {
        "devkit": tree,
        "faulty": {**tree, first: b"<annotation>", second: tree[second].replace(b"<xmax>", b"<xmax>a", 1)},
        "corrected": {**tree, first: corrected},
        "misspelt": {**tree, first: misspelt},  # it can be scored with, once the warning is confirmed
    }
    for name, contents in trees.items():
        (output / f"{name}.tar.gz").write_bytes(packed(contents.items()))
    return {
        "edition": samples / f"{EDITION.lower()}.toml",
        "results": samples / "results.tar.gz",
        **{name: output / f"{name}.tar.gz" for name in trees},
    }


@pytest.fixture
def organising(page: Page, year: Year) -> Organising:
    """Give the organiser's browser."""
    page.context.add_cookies(cookies_of(year.site, year.organiser.email))
    return Organising(page, year.url)


@pytest.fixture
def signed_in(kept_pages: KeptPages, year: Year) -> Iterator[SignedIn]:
    """Give what opens the browser of somebody else, who is signed in; without an address, of a visitor."""
    opened = []

    def open_page(email: str) -> Page:
        page = kept_pages("somebody" if email else "visitor", year.url)
        if email:
            page.context.add_cookies(cookies_of(year.site, email))
        opened.append(page)
        return page

    yield open_page
    for page in opened:
        page.goto("about:blank")  # ends the stream of events, which a server would wait for


@pytest.fixture
def visitor(signed_in: SignedIn) -> Page:
    """Give the browser of somebody who is not signed in."""
    return signed_in("")
