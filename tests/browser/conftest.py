"""Fixtures: the gallery as a running site, and browsers signed in to it."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright._impl._api_structures import SetCookieParam
from playwright.sync_api import BrowserContext, ConsoleMessage, Page

from tests.browser.gallery import Gallery, fill
from tests.support.browsing import sign_in as sign_in_plainly
from tests.support.factories import PASSWORD, make_user
from tests.support.services import make_tables
from tests.support.site import Site, serving
from tests.support.working import working
from vocboard.app.accounts.models import Role
from vocboard.app.settings import Settings
from vocboard.app.storage.ground_truth_inbox import PUBLIC_KEY_FILE

PATIENCE_MS = 60_000  # for what a worker does

SignIn = Callable[[Page, str], None]


@contextlib.contextmanager
def at_work(settings: Settings, log: Path) -> Iterator[Site]:
    """Give an empty site with its worker until the block ends.

    Args:
        log: the worker's.
    """
    make_tables(settings)
    with serving(settings) as site, working(settings, log):
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while not (settings.ground_truth_inbox / PUBLIC_KEY_FILE).exists():  # the worker is there
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield site


def cookies_of(site: Site, email: str) -> list[SetCookieParam]:
    """Return the cookies of a browser in which this person is signed in."""
    with site.client() as client:
        sign_in_plainly(client, email)
        return [{"name": name, "value": value, "url": site.url} for name, value in client.cookies.items()]


@dataclass(frozen=True)
class Exhibition:
    """The gallery, and the site that shows it."""

    site: Site
    gallery: Gallery
    kept: dict[str, list[SetCookieParam]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Where it answers."""
        return self.site.url

    def cookies(self, who: str) -> list[SetCookieParam]:
        """Return the cookies of a browser in which somebody of the gallery is signed in: "participant" and so on."""
        if who not in self.kept:
            self.kept[who] = cookies_of(self.site, getattr(self.gallery, who))
        return self.kept[who]


@pytest.fixture(scope="session")
def exhibition(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exhibition]:
    """Give a running site with everything there is to see; tests only look at it."""
    settings = Settings(data_directory=tmp_path_factory.mktemp("exhibition"))
    make_tables(settings)
    with serving(settings) as site:
        with site.writing() as session:
            gallery = fill(session)
        yield Exhibition(site, gallery)


@pytest.fixture
def browser_errors(browser_context: BrowserContext) -> Iterator[list[str]]:
    """Collect errors of the browser: errors in scripts, refused styles, files that are missing."""
    found: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # That a page or form was refused is what some tests are about; a style sheet or script must never be.
        refused = message.text.startswith("Failed to load resource") and "/static/" not in message.location["url"]
        if message.type in {"error", "warning"} and not refused:
            found.append(f"{message.page.url if message.page else ''}: {message.text}")

    browser_context.on("console", note)
    browser_context.on("weberror", lambda error: found.append(str(error.error)))
    yield found
    assert found == []


@pytest.fixture
def sign_in() -> SignIn:
    """Give what signs a page's browser in, by the form; the page must be on the site."""

    def by_form(page: Page, email: str) -> None:
        page.get_by_role("link", name="Sign in").first.click()
        page.get_by_label("E-mail address").fill(email)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("link", name="Account").wait_for()

    return by_form


@pytest.fixture
def laboratory(tmp_path: Path) -> Iterator[Site]:
    """Give an empty site with its worker."""
    with at_work(Settings(data_directory=tmp_path / "data"), tmp_path / "worker.log") as site:
        yield site


@pytest.fixture
def organiser(laboratory: Site) -> str:
    """Give the e-mail address of an organiser of the laboratory."""
    with laboratory.writing() as session:
        return make_user(session, role=Role.ORGANISER, name="Olga Organiser").email
