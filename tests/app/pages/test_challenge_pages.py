"""A challenge's page says the rules of its own edition."""

from datetime import timedelta

import pytest
from lxml import html

from tests.support.browsing import signed_in
from tests.support.factories import make_challenge, make_organiser
from tests.support.site import Site
from vocboard.app.challenges.models import Visibility
from vocboard.app.database import now
from vocboard.evaluator.editions import load


def page_of(site: Site, edition: str) -> str:
    with site.writing() as session:
        slug = make_challenge(session, edition=edition, competitions=list(load(edition).competitions), ready=False).slug
    with site.client() as client:
        answer = client.get(f"/challenges/{slug}")
    assert answer.status_code == 200
    return " ".join(html.fromstring(answer.text).text_content().split())


@pytest.mark.parametrize(
    ("edition", "person"),
    [("VOC2007", "<bndbox>…</bndbox>"), ("VOC2008", "<object/>"), ("VOC2012", "<object/>")],
)
def test_the_layout_format_names_people_as_the_edition_does(embedded_site: Site, edition: str, person: str) -> None:
    expected = f"<results><layout><image/>{person}<confidence/><part>…</part></layout>…</results>"
    assert expected in page_of(embedded_site, edition)


@pytest.mark.parametrize(
    ("edition", "said", "not_said"),
    [
        ("VOC2007", "A class without positives scores 0 and counts in the mean.", "n/a and left out"),
        ("VOC2007", "A class without true pixels scores 0 and counts in the mean.", "neither the ground truth"),
        ("VOC2009", "in neither the ground truth nor the result is n/a and left out of the mean.", "true pixels"),
        ("VOC2012", "A class without positives is n/a and left out of the mean.", "scores 0"),
        ("VOC2005", "A class without positives or without negatives is n/a and left out of the mean.", "scores 0"),
        ("ParallelEye", "A class without positives is n/a and left out of the mean.", "scores 0"),
    ],
)
def test_classes_without_positives_are_what_the_edition_says(
    embedded_site: Site, edition: str, said: str, not_said: str
) -> None:
    page = page_of(embedded_site, edition)
    assert said in page
    assert not_said not in page


def test_partial_entries_and_segmentation_of_some_classes_are_explained(embedded_site: Site) -> None:
    page = page_of(embedded_site, "VOC2012")
    assert "the entry ranks after those that enter all classes" in page
    assert "Only background and the classes declared as entered are scored" in page


@pytest.mark.parametrize(
    ("decimals", "said"),
    [(1, "in steps of 10 per cent."), (2, "in whole per cent."), (3, "with 1 decimal."), (4, "with 2 decimals.")],
)
def test_how_coarse_scores_are_is_said(embedded_site: Site, decimals: int, said: str) -> None:
    with embedded_site.writing() as session:
        slug = make_challenge(session, decimals=decimals, ready=False).slug
    with embedded_site.client() as client:
        page = " ".join(html.fromstring(client.get(f"/challenges/{slug}").text).text_content().split())
    assert said in page[page.index("Scores are shown") :]


def test_the_organiser_of_a_draft_is_offered_to_rehearse_not_to_submit(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        slug = make_challenge(session, organiser=organiser, visibility=Visibility.DRAFT).slug
        email = organiser.email
    with signed_in(embedded_site, email) as client:
        page = html.fromstring(client.get(f"/challenges/{slug}").text)
        others = [html.fromstring(client.get(at).text) for at in ("/", f"/challenges/{slug}/leaderboards/comp1")]
    head = " ".join(page.xpath('//header[@class="page-head"]')[0].text_content().split())
    assert "Draft" in head
    assert "Open" not in head
    for each in (page, *others):
        assert each.xpath(f'//a[@href="/challenges/{slug}/submit?rehearsal=true"]')
        assert not each.xpath(f'//a[@href="/challenges/{slug}/submit"]')


def test_what_is_archived_before_its_deadline_is_not_said_to_have_closed(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        challenge = make_challenge(session, closes_at=now() + timedelta(days=30))
        challenge.archived_at = now()
    with embedded_site.client() as client:
        text = client.get("/").text
    assert "Closed <time" not in text
    assert "Archived <time" in text
