"""Pages that fetch themselves again when there is news, and somebody who fills in a form on them."""

import pytest
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError
from sqlalchemy import select

from tests.browser.exhibition import cookies_of
from tests.support.factories import make_challenge, make_organiser, make_truth, make_user
from tests.support.scored import make_scored
from tests.support.site import Site
from vocboard.app.challenges.models import GroundTruthVersion, TruthState
from vocboard.app.database import now
from vocboard.app.submissions.models import State, Submission

POLL_INTERVAL_MS = 2000
EVENTS_AGAIN_MS = 10_000
RELOADS_EVERY_MS = 1000  # a page that waits for a form tries again so often

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]


def test_what_is_being_typed_survives_until_the_page_has_news(elsewhere: Site, page: Page) -> None:
    with elsewhere.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, slug="small")
        make_scored(session, challenge, make_user(session), "Method")
        arriving = make_truth(session, challenge, current=False)
        arriving.state = TruthState.IMPORTING
        email, version = organiser.email, arriving.id
    page.context.add_cookies(cookies_of(elsewhere, email))
    set_up = f"{elsewhere.url}/organise/small"
    page.clock.install()
    page.goto(set_up)
    page.locator("summary", has_text="Score again").click()
    reason = page.get_by_role("textbox", name="Reason", exact=True)

    def wait_for_news() -> None:
        for _ in range(2):  # what the first brings is in the page by the time of the second
            with page.expect_response(lambda answer: answer.url.startswith(set_up)):
                page.clock.run_for(POLL_INTERVAL_MS)

    wait_for_news()
    reason.fill("Two boxes were")
    page.get_by_role("heading", level=1).click()
    wait_for_news()
    expect(reason).to_have_value("Two boxes were")
    with elsewhere.writing() as session:
        session.get_one(GroundTruthVersion, version).state = TruthState.READY
    wait_for_news()
    expect(reason).to_have_value("Two boxes were")
    expect(page.get_by_text("A worker is reading it.")).to_be_visible()
    reason.clear()
    page.get_by_role("heading", level=1).click()
    page.clock.run_for(POLL_INTERVAL_MS)
    expect(page.get_by_text("A worker is reading it.")).to_have_count(0)
    with elsewhere.writing() as session:
        session.get_one(GroundTruthVersion, version).state = TruthState.IMPORTING
    page.goto(set_up)
    page.context.clear_cookies()  # as when the session has ended
    page.clock.run_for(POLL_INTERVAL_MS)
    page.wait_for_url("**/sign-in?*")


def test_details_of_one_former_version_stay_open_alone(elsewhere: Site, page: Page) -> None:
    with elsewhere.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, slug="small")
        for _ in range(2):
            make_truth(session, challenge)
        for version in session.scalars(select(GroundTruthVersion)):
            version.summary = {"detection/test": {"images": 1}}
        make_truth(session, challenge, current=False).state = TruthState.IMPORTING
        email = organiser.email
    page.context.add_cookies(cookies_of(elsewhere, email))
    set_up = f"{elsewhere.url}/organise/small"
    page.clock.install()
    page.goto(set_up)
    former = page.locator("details.panel", has=page.locator("summary h3"))
    expect(former).to_have_count(2)
    former.first.locator("summary").first.click()
    former.first.locator("details", has_text="Images and objects").locator("summary").click()
    for _ in range(2):  # what the first brings is in the page by the time of the second
        with page.expect_response(lambda answer: answer.url.startswith(set_up)):
            page.clock.run_for(POLL_INTERVAL_MS)
    assert former.locator("details").evaluate_all("all => all.map((one) => one.open)") == [True, False]


@pytest.mark.parametrize("end", [State.SCORED, State.DISQUALIFIED])
def test_a_result_that_arrives_does_not_empty_a_form(elsewhere: Site, page: Page, end: State) -> None:
    with elsewhere.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, slug="small")
        waiting = make_scored(session, challenge, make_user(session), "Method", state=State.QUEUED, queued_at=now())
        email, submission = organiser.email, waiting.id
    page.context.add_cookies(cookies_of(elsewhere, email))
    page.clock.install()
    page.route("**/events", lambda route: route.fulfill(status=503))  # as while the database is away
    with page.expect_response("**/events"):
        page.goto(f"{elsewhere.url}/submissions/{submission}")
    expect(page.locator("[data-live-hint]")).to_contain_text("updates automatically")
    page.unroute("**/events")
    with page.expect_response("**/events"):  # it listens
        for _ in range(20):  # the browser needs a moment to see that it was refused
            page.clock.run_for(EVENTS_AGAIN_MS // 10)
    page.locator("summary", has_text="Disqualify").click()
    reason = page.get_by_role("textbox", name="Reason")
    reason.fill("Trained on the test images")
    with elsewhere.writing() as session:
        found = session.get_one(Submission, submission)
        found.state, found.disqualified_at, found.moderation_reason = end, now(), "A reason"
    expect(page.locator("[data-live-steps]")).to_contain_text(end.capitalize())
    with pytest.raises(PlaywrightTimeoutError), page.expect_navigation(timeout=2 * RELOADS_EVERY_MS):
        page.clock.run_for(2 * RELOADS_EVERY_MS)
    expect(reason).to_have_value("Trained on the test images")
    reason.clear()
    page.get_by_role("heading", level=1).click()
    page.clock.run_for(RELOADS_EVERY_MS)
    expect(page.locator("[data-live-hint]")).to_have_count(0)  # it has been loaded again
