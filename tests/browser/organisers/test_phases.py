"""Dates, phases and leaderboards over time, and what others then see."""

import re
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from tests.browser.organisers.clicks import Organising
from tests.browser.organisers.conftest import SignedIn, Year
from tests.support.factories import make_challenge, make_user
from tests.support.scored import make_published
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]

DAY = timedelta(days=1)


def typed(instant: datetime) -> str:
    """Return an instant as a field takes it."""
    return f"{instant:%Y-%m-%dT%H:%M}"


def challenge_of(year: Year, **given: object) -> Challenge:
    with year.site.writing() as session:
        return make_challenge(session, organiser=year.organiser, **given)


def add_result(year: Year, challenge: Challenge, name: str, score: float, *, ago: timedelta = DAY / 24) -> str:
    """Publish a result of a new person, some time ago; return the person's address."""
    at = now() - ago
    with year.site.writing() as session:
        entrant = make_user(session, name=f"Entrant of {name}")
        make_published(session, challenge, entrant, name, score, created_at=at, finished_at=at, published_at=at)
        return entrant.email


def board(challenge: Challenge) -> str:
    return f"/challenges/{challenge.slug}/leaderboards/comp1"


def test_a_closed_challenge_is_extended(organising: Organising, year: Year, visitor: Page) -> None:
    challenge = challenge_of(year, title="To be extended", closes_at=now() - DAY / 24)
    with organising.action("extend", f"/organise/{challenge.slug}"):
        organising.link("Edit")
        organising.unfold("Dates")
        organising.fill("Closes optional", typed(now() + 7 * DAY))
        organising.button("Save dates")
        organising.tab("Overview")
        expect(organising.page.locator(".page-head .state.open")).to_be_visible()
    visitor.goto(f"/challenges/{challenge.slug}")
    expect(visitor.get_by_role("link", name="Submit results")).to_be_visible()


def test_a_second_phase_with_its_own_ground_truth(organising: Organising, year: Year, visitor: Page) -> None:
    challenge = challenge_of(year, title="Two phases", closes_at=now() + DAY)
    with organising.action("two phases", f"/organise/{challenge.slug}"):
        organising.link("Phases, admitted people, extra quota")
        organising.link("Add phase")
        organising.fill("Name", "Final test")
        organising.fill("URL name", "final")
        organising.tick("Ground truth of its own")
        organising.button("Add phase")
        expect(organising.page.get_by_role("heading", name="Final test")).to_be_visible()
        expect(organising.page.get_by_role("link", name="Ground truth of Final test")).to_be_visible()
    visitor.goto(f"/challenges/{challenge.slug}/rules")
    expect(visitor.get_by_role("region", name="Main phase").locator(".state")).to_have_text("Open")
    expect(visitor.get_by_role("region", name="Final test").locator(".state")).to_have_text("Not yet open")


def test_a_leaderboard_is_hidden_until_a_date(organising: Organising, year: Year, visitor: Page) -> None:
    challenge = challenge_of(year, title="Hidden")
    add_result(year, challenge, "Early method", 0.5)
    visitor.goto(board(challenge))
    expect(visitor.get_by_role("row", name=re.compile("Early method"))).to_be_visible()
    with organising.action("hide the leaderboard", f"/organise/{challenge.slug}"):
        organising.link("Edit")
        organising.unfold("Leaderboards")
        organising.fill("Visible from optional", typed(now() + DAY))
        organising.button("Save leaderboards")
        organising.tab("Overview")
        expect(organising.page.get_by_text("visible from")).to_be_visible()
    visitor.goto(board(challenge))
    expect(visitor.get_by_text("This leaderboard will be visible from")).to_be_visible()
    expect(visitor.get_by_text("Early method")).to_have_count(0)


def test_a_leaderboard_is_frozen_on_a_date(organising: Organising, year: Year, visitor: Page) -> None:
    challenge = challenge_of(year, title="Frozen")
    add_result(year, challenge, "Early method", 0.5)
    with organising.action("freeze", f"/organise/{challenge.slug}"):
        organising.link("Edit")
        organising.unfold("Leaderboards")
        organising.fill("Freeze on optional", typed(now()))
        expect(organising.page.get_by_label("On a date")).to_be_checked()
        organising.button("Save leaderboards")
        organising.tab("Overview")
        expect(organising.page.get_by_text("Final ranks")).to_be_visible()
    add_result(year, challenge, "Late method", 0.9, ago=timedelta())
    visitor.goto(board(challenge))
    expect(visitor.get_by_text("nothing changes any more")).to_be_visible()
    expect(visitor.get_by_role("row", name=re.compile("Early method"))).to_be_visible()
    expect(visitor.get_by_role("row", name=re.compile("Late method"))).to_have_count(0)
    visitor.get_by_role("link", name=re.compile("Later results")).first.click()
    expect(visitor.get_by_role("row", name=re.compile("Late method"))).to_be_visible()


def test_a_leaderboard_is_anonymous_until_a_date(organising: Organising, year: Year, visitor: Page) -> None:
    challenge = challenge_of(year, title="Anonymous")
    add_result(year, challenge, "Named method", 0.5)
    with organising.action("anonymise", f"/organise/{challenge.slug}"):
        organising.link("Edit")
        organising.unfold("Leaderboards")
        organising.fill("Anonymous until optional", typed(now() + DAY))
        organising.button("Save leaderboards")
        organising.tab("Overview")
        expect(organising.page.get_by_text("shown from")).to_be_visible()
    visitor.goto(board(challenge))
    expect(visitor.get_by_text("This leaderboard is anonymous until")).to_be_visible()
    assert "Named method" not in visitor.content()


def test_extra_quota_for_a_person(organising: Organising, year: Year, signed_in: SignedIn) -> None:
    challenge = challenge_of(year, title="Quota", quota_count=1)
    entrant = add_result(year, challenge, "First attempt", 0.5)
    theirs = signed_in(entrant)
    theirs.goto(f"/challenges/{challenge.slug}/submit")
    expect(theirs.get_by_text("0 of 1")).to_be_visible()
    with organising.action("extra quota", f"/organise/{challenge.slug}"):
        organising.tab("People")
        organising.link("Extra quota for Entrant of First attempt")
        organising.fill("Extra submissions per competition", "2")
        organising.fill("Until UTC", typed(now() + 7 * DAY))
        organising.button("Give extra quota")
        expect(organising.page.get_by_role("row", name=re.compile(entrant))).to_be_visible()
        organising.page.goto(f"{year.url}/organise/{challenge.slug}/entrants")
        expect(organising.page.get_by_role("row", name=re.compile(entrant))).to_contain_text("2 extra until")
    theirs.reload()
    expect(theirs.get_by_text("2 of 3")).to_be_visible()
    expect(theirs.get_by_text("2 of them are extra, until")).to_be_visible()
