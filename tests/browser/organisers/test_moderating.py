"""What organisers do about people and submissions, and what those then see."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.organisers.clicks import Organising
from tests.browser.organisers.conftest import SignedIn, Year
from tests.support.factories import make_challenge, make_user
from tests.support.scored import make_published
from vocboard.app.challenges.models import Challenge
from vocboard.app.submissions.models import State

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]


def entered(year: Year, title: str, **given: Any) -> tuple[Challenge, str, str]:
    """Make a challenge with a submission; return it with the entrant's address and the path of the submission."""
    with year.site.writing() as session:
        challenge = make_challenge(session, organiser=year.organiser, title=title)
        entrant = make_user(session, name="Eve Entrant")
        submission = make_published(session, challenge, entrant, "Suspicious method", 0.5, **given)
        return challenge, entrant.email, f"/submissions/{submission.id}"


def test_a_co_organiser_is_invited_and_accepts(organising: Organising, year: Year, signed_in: SignedIn) -> None:
    with year.site.writing() as session:
        challenge = make_challenge(session, organiser=year.organiser, title="Together")
        other = make_user(session, name="Otto Other").email
    with organising.action("co-organiser", f"/organise/{challenge.slug}"):
        organising.tab("People", "Organisers")
        organising.fill("Email address", other)
        organising.button("Invite")
        expect(organising.page.get_by_role("row", name=re.compile(other))).to_be_visible()
    theirs = signed_in(other)
    theirs.goto("/invitations")
    theirs.get_by_role("button", name="Accept Together").click()
    expect(theirs.get_by_role("heading", name="Together")).to_be_visible()
    organising.page.reload()
    expect(organising.page.get_by_role("row", name=re.compile("Otto Other"))).to_contain_text("Organiser")


def test_a_submission_is_disqualified(organising: Organising, year: Year, signed_in: SignedIn, visitor: Page) -> None:
    challenge, entrant, submission = entered(year, "With a suspicious submission")
    board = f"/challenges/{challenge.slug}/leaderboards/comp1"
    visitor.goto(board)
    expect(visitor.get_by_role("row", name=re.compile("Suspicious method"))).to_be_visible()
    with organising.action("disqualify", f"/organise/{challenge.slug}"):
        organising.tab("Submissions")
        organising.link("Suspicious method")
        organising.unfold("Disqualify")
        asked = organising.page.locator("#reason-disqualify").bounding_box()
        assert asked["width"] > 200, "the form that asks for a reason is squeezed into a line"
        organising.fill("Reason", "Trained on the test set.")
        organising.button("Disqualify")
        expect(organising.page.locator("summary", has_text="Lift disqualification")).to_be_visible()
    visitor.goto(board)
    expect(visitor.get_by_text("Suspicious method")).to_have_count(0)
    theirs = signed_in(entrant)
    theirs.goto(submission)
    expect(theirs.get_by_text("Trained on the test set.")).to_be_visible()
    expect(theirs.get_by_role("button", name="Publish")).to_have_count(0)


def test_a_person_is_banned(organising: Organising, year: Year, signed_in: SignedIn, visitor: Page) -> None:
    challenge, entrant, _ = entered(year, "With a suspicious person")
    with organising.action("ban", f"/organise/{challenge.slug}"):
        organising.tab("People")
        organising.unfold("Ban Eve Entrant")
        organising.fill("Reason shown to the person", "Two accounts.")
        organising.choose("Published results", "Unpublish them")
        organising.button("Ban Eve Entrant")
        expect(organising.page.get_by_role("row", name=re.compile("Eve Entrant"))).to_contain_text("Banned")
    visitor.goto(f"/challenges/{challenge.slug}/leaderboards/comp1")
    expect(visitor.get_by_text("No results have been published for comp1 yet.")).to_be_visible()
    theirs = signed_in(entrant)
    theirs.goto(f"/challenges/{challenge.slug}/submit")
    expect(theirs.get_by_text("Two accounts.")).to_be_visible()


def test_the_reason_for_a_failure_is_found(organising: Organising, year: Year, signed_in: SignedIn) -> None:
    detail = "SoftTimeLimitExceeded: It took too long.\n  worker/evaluation.py:87 in _evaluate"
    failed = {"state": State.FAILED, "failure": "It took longer than 30 minutes.", "failure_detail": detail}
    challenge, entrant, submission = entered(year, "With a failure", published=False, **failed)
    with organising.action("reason for a failure", f"/organise/{challenge.slug}"):
        organising.link("Failed", within=organising.page.get_by_role("region", name="Submissions"))
        organising.link("Suspicious method")
        expect(organising.page.get_by_role("group", name="Technical reason")).to_contain_text("worker/evaluation.py:87")
    theirs = signed_in(entrant)
    theirs.goto(submission)
    expect(theirs.get_by_text("It took longer than 30 minutes.")).to_be_visible()
    expect(theirs.get_by_text("worker/evaluation.py")).to_have_count(0)
