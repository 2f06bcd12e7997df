"""Fixtures: the gallery as a running site, and browsers signed in to it."""

import contextlib
import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession, ConsoleMessage, Page, WebError

from tests.browser.exhibition import Exhibition
from tests.browser.visits import Visit, open_page
from tests.support.browser import VIEWPORT, new_context, running_browser
from tests.support.factories import make_user
from tests.support.filled_databases import furnish, read_gallery
from tests.support.run_files import made_once
from tests.support.services import make_tables
from tests.support.site import Site, serving
from tests.support.working import working
from vocboard.app.accounts.models import Role
from vocboard.app.accounts.openid import ORCID
from vocboard.app.settings import Settings
from vocboard.app.storage.ground_truth_inbox import PUBLIC_KEY_FILE

PATIENCE_MS = 60_000  # for what a worker does

KeptPages = Callable[..., Page]


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


@pytest.fixture(scope="session")
def exhibition(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exhibition]:
    """Give a running site with everything there is to see; tests only look at it."""
    directory = tmp_path_factory.mktemp("exhibition") / "data"
    shutil.copytree(made_once("exhibition", lambda made: furnish(made, methods=120)), directory)
    provider = {"name": "orcid", "title": "ORCID", "issuer": ORCID, "client_id": "voc", "client_secret": "secret"}
    settings = Settings(data_directory=directory, oidc_providers=json.dumps([provider]))
    settings.archives.mkdir(exist_ok=True)
    with serving(settings) as site:
        yield Exhibition(site, read_gallery(directory))


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Give a Chromium, which takes more than a second of processor time to start.

    Not for the session: while it is open, Playwright's event loop runs in this thread, and no other test could use one.
    """
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def kept_pages(browser: Browser) -> Iterator[KeptPages]:
    """Give what returns somebody's page, with no cookies, stored data or routes; the same for a module's tests.

    Paths are relative to the second argument.

    History, cached files, event handlers and scripts that tests add to every document stay: for these, make a profile.
    The first page of a new browser profile takes half a second of processor time.
    """
    pages: dict[str, tuple[Page, CDPSession]] = {}

    def page_of(who: str, url: str | None = None) -> Page:
        if who not in pages:
            page = new_context(browser, url).new_page()
            pages[who] = page, page.context.new_cdp_session(page)
        page, session = pages[who]
        page.unroute_all()
        page.context.set_offline(False)
        page.mouse.move(-1, -1)  # over nothing
        session.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
        page.context.clear_cookies()
        page.set_viewport_size(VIEWPORT)
        page.emulate_media(media="null", color_scheme="null", reduced_motion="null")
        return page

    yield page_of
    for page, _ in pages.values():
        page.context.close()


@pytest.fixture
def page(kept_pages: KeptPages) -> Iterator[Page]:
    """Give an empty page, with no cookies and nothing stored."""
    page = kept_pages("anybody")
    yield page
    page.goto("about:blank")  # ends the stream of events, which a server would wait for


@pytest.fixture
def browser_context(page: Page) -> BrowserContext:
    """Give the page's browser profile."""
    return page.context


@pytest.fixture
def browser_errors(browser_context: BrowserContext) -> Iterator[list[str]]:
    """Collect errors of the browser: errors in scripts, refused styles, files that are missing."""
    with without_errors(browser_context) as found:
        yield found


@contextlib.contextmanager
def without_errors(context: BrowserContext) -> Iterator[list[str]]:
    """Collect the errors of a browser, and fail at the end of the block if there are any."""
    found: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # That a page or form was refused is what some tests are about; a style sheet or script must never be.
        refused = message.text.startswith("Failed to load resource") and "/static/" not in message.location["url"]
        if message.type in {"error", "warning"} and not refused:
            found.append(f"{message.page.url if message.page else ''}: {message.text}")

    def note_exception(error: WebError) -> None:
        found.append(str(error.error))

    context.on("console", note)
    context.on("weberror", note_exception)
    yield found
    context.remove_listener("console", note)
    context.remove_listener("weberror", note_exception)
    assert found == []


@pytest.fixture
def visited(visit: Visit, exhibition: Exhibition, kept_pages: KeptPages) -> Iterator[Page]:
    """Give the page of the test's `visit`; there must be no errors in the browser up to the end of the test."""
    page = kept_pages(visit.who)
    with without_errors(page.context):
        open_page(page, exhibition, visit)
        yield page


@pytest.fixture
def laboratory(tmp_path: Path) -> Iterator[Site]:
    """Give an empty site with its worker."""
    with at_work(Settings(data_directory=tmp_path / "data"), tmp_path / "worker.log") as site:
        yield site


@pytest.fixture
def organiser(laboratory: Site) -> str:
    """Give the email address of an organiser of the laboratory."""
    with laboratory.writing() as session:
        return make_user(session, role=Role.ORGANISER, name="Olga Organiser").email
