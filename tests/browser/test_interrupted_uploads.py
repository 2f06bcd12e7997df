"""An upload in a browser that is offline, reloaded, or whose server restarts: it continues, and is submitted once."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, Request, Route, expect
from sqlalchemy import func, select

from benchmarks.interrupted import SLUG, make_archive, make_test_set
from benchmarks.relay import Relay, relaying
from tests.browser.exhibition import cookies_of
from tests.support.backend import wait_until
from tests.support.factories import make_user
from tests.support.processes import free_port
from tests.support.services import make_tables
from tests.support.site import Site, serving
from vocboard.app.intake.models import Upload
from vocboard.app.settings import Settings
from vocboard.app.submissions.models import Submission

pytestmark = pytest.mark.browser

PATIENCE_MS = 60_000
OTHER_REQUESTS_BYTES = 64 * 1024  # more than all requests but the upload


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = Settings(data_directory=tmp_path / "data")
    make_tables(settings)
    return settings


@pytest.fixture
def relay() -> Iterator[Relay]:
    with relaying(0) as running:
        yield running


def port(site: Site) -> int:
    return urlsplit(site.url).port or 0


def arrived_bytes(settings: Settings) -> int:
    return sum(file.stat().st_size for file in (settings.archives / "unfinished").glob("*"))


def count(site: Site, model: type) -> int:
    with site.database.reading() as session:
        return session.scalar(select(func.count()).select_from(model)) or 0


def test_an_interrupted_upload_continues_and_is_submitted_once(
    settings: Settings, relay: Relay, page: Page, browser_context: BrowserContext, tmp_path: Path
) -> None:
    archive, offsets = tmp_path / "results.tar", list[int]()
    make_archive(archive, 1)
    size, arrived = archive.stat().st_size, 0

    def note(request: Request) -> None:
        if request.method == "PATCH":
            offsets.append(int(request.headers["upload-offset"]))

    def hold_at(share: float) -> None:
        nonlocal arrived
        arrived = arrived_bytes(settings)  # with what the server had still to write of the part before
        relay.hold_from(relay.sent + OTHER_REQUESTS_BYTES + int(share * size))

    def wait_until_some_has_arrived() -> None:
        relay.wait_until_held()
        wait_until(lambda: arrived_bytes(settings) >= arrived + OTHER_REQUESTS_BYTES)

    page.on("request", note)
    with serving(settings) as site:
        relay.port = port(site)
        with site.writing() as session:
            make_test_set(session)
            email = make_user(session).email
        page.context.add_cookies(cookies_of(site, email))
        page.goto(f"{relay.url}/challenges/{SLUG}/submit")
        hold_at(0.2)
        page.get_by_label("Result files in one archive").set_input_files(archive)
        wait_until_some_has_arrived()
        relay.port = free_port()  # nothing listens there
        relay.reset()
        waiting = page.locator("[data-progress-text]").get_by_text("continues when it is back")
        expect(waiting).to_be_visible(timeout=PATIENCE_MS)
        browser_context.set_offline(True)
        relay.port = port(site)
        with page.expect_event("requestfailed", lambda request: request.failure == "net::ERR_INTERNET_DISCONNECTED"):
            pass
        hold_at(0.2)
        browser_context.set_offline(False)
        wait_until_some_has_arrived()
        relay.port = free_port()
        relay.reset()
    with serving(settings) as site:
        hold_at(0.2)
        relay.port = port(site)
        wait_until_some_has_arrived()
        page.goto("about:blank")
        relay.port = free_port()  # the browser sends again by itself what a reset connection did not answer
        relay.reset()  # also what the system would still have sent
        relay.release()
        relay.wait_until_idle()
        relay.port = port(site)
        page.goto(f"{relay.url}/challenges/{SLUG}/submit")
        page.get_by_label("Result files in one archive").set_input_files(archive)
        expect(page.locator("[data-checked]")).to_contain_text("The archive is valid", timeout=PATIENCE_MS)
        sent = [offset for index, offset in enumerate(offsets) if offset not in offsets[:index]]
        assert sent == sorted(sent)
        assert sent[0] == 0
        assert offsets.count(0) == 1, "it has never begun again"
        assert len(sent) >= 4
        assert count(site, Upload) == 1, "all of it is one attempt"

        page.reload()  # finished, but not submitted yet: nothing is sent again
        before = relay.sent
        page.get_by_label("Result files in one archive").set_input_files(archive)
        expect(page.locator("[data-checked]")).to_contain_text("The archive is valid", timeout=PATIENCE_MS)
        assert relay.sent - before < OTHER_REQUESTS_BYTES

        def lose_answer(route: Route) -> None:
            route.fetch()
            route.abort()

        page.get_by_label("Name", exact=True).fill("Mine")
        page.get_by_label("Training data statement").fill("Images of our own.")
        page.route("**/submit?*", lose_answer, times=1)
        page.get_by_role("button", name="Submit", exact=True).click()
        expect(page.locator("#report")).to_contain_text("is not counted twice", timeout=PATIENCE_MS)
        page.get_by_role("button", name="Submit", exact=True).click()
        page.wait_for_url("**/submissions/*", timeout=PATIENCE_MS)
        assert count(site, Submission) == 1
        with site.database.reading() as session:
            assert session.scalars(select(Submission.archive_sha256)).one() == sha256(archive.read_bytes()).hexdigest()
        page.goto("about:blank")  # ends the stream of events, which the server would wait for
