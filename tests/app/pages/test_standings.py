"""The first page and a challenge's page say who leads and where the reader is, and nothing that leaderboards hide."""

from datetime import timedelta
from typing import Any

import pytest
from lxml import html

from tests.browser.gallery_states import add_states
from tests.support.browsing import browser_of
from tests.support.factories import make_challenge, make_organiser, make_user
from tests.support.phases import complete
from tests.support.scored import make_published
from tests.support.site import Site
from vocboard.app.challenges.models import Challenge, Detail, Freeze
from vocboard.app.database import now
from vocboard.app.leaderboards import freezing
from vocboard.app.participating import publishing


def said(site: Site, path: str, reader: str | None = None, *, slug: str = "") -> str:
    """Return the text of a page's content, or of the card of a challenge on the first page."""
    with browser_of(site, reader) as client:
        answer = client.get(path)
    assert answer.status_code == 200
    [part] = html.fromstring(answer.text).xpath(
        f"//li[.//a[@href='/challenges/{slug}']]" if slug else "//main[@id='main']"
    )
    return " ".join(part.text_content().split())


def test_pages_hide_what_leaderboards_hide(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser, participant = make_organiser(session), make_user(session)
        add_states(session, organiser, participant)
        entrant = participant.email
    for reader in (None, entrant):
        for slug, hidden in {
            "hidden": ("Part-based", "Set prediction", "12.3", "You lead", "method"),
            "anonymous": ("Part-based", "Set prediction", "You lead"),
            "frozen": ("Set prediction", "2 methods"),
        }.items():
            card = said(embedded_site, "/", reader, slug=slug)
            page = said(embedded_site, f"/challenges/{slug}", reader)
            competitions = page.partition("Competitions")[2].partition("The first of each")[0]
            for text in hidden:
                assert text not in card, (slug, reader)
                assert text not in competitions, (slug, reader)
        assert "visible from" in said(embedded_site, "/", reader, slug="hidden")
        assert "2 methods" in said(embedded_site, "/challenges/anonymous", reader)
        assert "Part-based mixture 12.3" in said(embedded_site, "/challenges/frozen", reader)
        card = said(embedded_site, "/", reader, slug="frozen")
        assert ("Open" in card, "Later results do not count" in card) == (False, True)


def test_challenges_are_in_the_order_of_their_dates(embedded_site: Site) -> None:
    """In each group, whatever was made last: soon before later, without a date at the end, and in use before unused."""
    day, started = timedelta(days=1), now()
    with embedded_site.writing() as session:
        owner = make_organiser(session)

        def challenge(slug: str, **given: Any) -> Challenge:
            return make_challenge(session, organiser=owner, slug=slug, title=f"Order {slug}", **given)

        make_published(session, challenge("in-use"), owner, "Method", 0.5)
        challenge("unused")
        challenge("soon", closes_at=started + 2 * day)
        challenge("later", closes_at=started + 9 * day)
        challenge("opens-later", opens_at=started + 9 * day)
        challenge("opens-soon", opens_at=started + day)
        challenge("closed-first", opens_at=started - 9 * day, closes_at=started - 8 * day)
        challenge("closed-last", opens_at=started - 9 * day, closes_at=started - day)
    with embedded_site.client() as client:
        cards = html.fromstring(client.get("/").text).xpath("//h3/a[starts-with(., 'Order ')]/text()")
    assert [str(card).removeprefix("Order ") for card in cards] == [
        *("soon", "later", "in-use", "unused"),
        *("opens-soon", "opens-later"),
        *("closed-last", "closed-first"),
    ]


@pytest.mark.parametrize("detail", [Detail.MEAN, Detail.CLASSES])
def test_a_reader_sees_the_own_rank_and_the_gap_of_rounded_means(embedded_site: Site, detail: Detail) -> None:
    with embedded_site.writing() as session:
        challenge = make_challenge(
            session, slug="ranked", competitions=["comp1", "comp3"], detail=detail, decimals=3, title="Ranked"
        )
        people = [make_user(session) for _ in range(4)]
        for person, score in zip(people, (0.9006, 0.7004, 0.8, 0.9), strict=True):
            make_published(session, challenge, person, f"Method of {score}", score, published=score != 0.9)
        first, third, _, unpublished = (person.email for person in people)
    for path, slug in (("/", "ranked"), ("/challenges/ranked", "")):
        visitor = said(embedded_site, path, slug=slug)
        assert "3 methods" in visitor
        assert "Method of 0.9006 90.1" in visitor
        assert "You " not in visitor.partition("The first of each")[0]
        assert "You lead" in said(embedded_site, path, first, slug=slug)
        assert "You are 3rd, 20.1 behind the best" in said(embedded_site, path, third, slug=slug)
        assert "Method of 0.9 " not in said(embedded_site, path, unpublished, slug=slug)


def test_the_place_on_a_frozen_leaderboard_stays_the_own_one(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        challenge = make_challenge(
            session, slug="kept", competitions=["comp1"], title="Kept", freeze=Freeze.DATE, freezes_at=now()
        )
        person = make_user(session)
        place = make_published(session, challenge, person, "Method", 0.9, published_at=now() - timedelta(hours=2))
        freezing.freeze_due(session, complete(session, challenge.id), at=now() + timedelta(seconds=1))
        publishing.unpublish(session, submission_id=place.id, user=person)
    for path, slug in (("/", "kept"), ("/challenges/kept", "")):
        assert "You lead" in said(embedded_site, path, person.email, slug=slug)
    with browser_of(embedded_site, person.email) as client:
        assert html.fromstring(client.get("/challenges/kept/leaderboards/comp1").text).xpath("//tr[@class='own']")
