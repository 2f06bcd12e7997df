"""A challenge's page says the rules of its own edition."""

from datetime import timedelta
from hashlib import sha256

import pytest
from lxml import html

from tests.support.browsing import signed_in
from tests.support.challenge_pages import PAGE
from tests.support.factories import make_challenge, make_organiser, make_truth, make_user
from tests.support.scored import make_published
from tests.support.site import Site
from vocboard.app.challenges.models import Visibility
from vocboard.app.challenges.phases import phase_named
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import now
from vocboard.app.evaluations.scorings import make_current, start_scoring
from vocboard.app.organising import phase_changes
from vocboard.app.pages.covers import cover
from vocboard.evaluator.editions import load


def page_of(site: Site, edition: str) -> str:
    with site.writing() as session:
        slug = make_challenge(session, edition=edition, competitions=list(load(edition).competitions), ready=False).slug
    with site.client() as client:
        answer = client.get(f"/challenges/{slug}/data")
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
        page = " ".join(html.fromstring(client.get(f"/challenges/{slug}/rules").text).text_content().split())
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
        page = html.fromstring(client.get(f"/challenges/{challenge.slug}").text)
    assert page.xpath('//ol[@class="dates"]/li/span/text()') == ["Submissions open", "Archived", "Today"]
    assert "Closed <time" not in text
    assert "Archived <time" in text


def test_final_results_link_to_the_leaderboards_of_their_phase(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, opens_at=now() - timedelta(days=9))
        rules = PhaseRules(competitions=("comp1",), opens_at=now() - timedelta(days=1))
        phase_changes.add_phase(session, challenge=challenge, user=organiser, key="late", title="Late", rules=rules)
        make_published(session, challenge, make_user(session), "A method", 0.5)
        challenge.archived_at = now()
        path = f"/challenges/{challenge.slug}"
    with embedded_site.client() as client:
        section = html.fromstring(client.get(path).text).xpath('//section[@aria-labelledby="results-title"]')[0]
    links = [link for link in section.xpath(".//a/@href") if "/leaderboards" in link]
    assert links
    assert all(link.endswith("?phase=main") for link in links), links


def test_tabs_show_what_the_organisers_say(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        slug = make_challenge(session, **PAGE).slug
    with embedded_site.client() as client:
        pages = {tab: html.fromstring(client.get(f"/challenges/{slug}{tab}").text) for tab in ("", "/data", "/cite")}
    assert pages[""].xpath('//p[@class="lead"]/text()') == [PAGE["summary"]]
    assert pages[""].xpath('//div[@class="prose"]//a/@href') == ["https://ships.example"]
    downloads = pages["/data"].xpath('//ul[@class="downloads"]/li')
    assert [" ".join(each.text_content().split()) for each in downloads][:2] == [
        f"Images 3 GiBSHA-256 {'0a' * 32}",
        "Notes",
    ]
    assert pages["/cite"].xpath("//pre/code/text()") == [PAGE["citation"]]
    assert pages["/cite"].xpath('//a[starts-with(@href, "mailto:")]/@href') == ["mailto:ask@ships.example"]
    for page in pages.values():
        assert len(page.xpath('//nav[@aria-label="Challenge"]/a[@aria-current="page"]')) == 1
        assert len(page.xpath('//a[@rel="nofollow ugc noopener"]')) >= 1


def test_today_is_among_the_dates_and_a_countdown_at_the_top(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        slug = make_challenge(session, closes_at=now() + timedelta(days=12, hours=1)).slug
    with embedded_site.client() as client:
        page = html.fromstring(client.get(f"/challenges/{slug}").text)
    assert page.xpath('//ol[@class="dates"]/li/span/text()') == [
        "Submissions open",
        "Today",
        "Submissions close, ranks are final",
    ]
    assert page.xpath('//header[@class="page-head"]//b/text()') == ["12 days left"]


def test_a_cover_is_the_same_for_ever_and_has_no_text() -> None:
    drawn = html.fragment_fromstring(cover("voc2012"))
    assert sha256(cover("voc2012").encode()).hexdigest()[:16] == "ef3afcc70c381d61"
    assert cover("voc2012") != cover("voc2007")
    assert drawn.get("aria-hidden") == "true"
    assert "".join(drawn.itertext()) == ""
    assert len(cover("voc2012")) < 4000


def test_the_data_are_those_of_all_open_phases(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, ready=False)
        make_truth(session, challenge).competitions = ["comp1", "comp3", "comp5"]
        for key, competition, image_set in (("shapes", "comp5", None), ("trial", "comp3", "val")):
            rules = PhaseRules(competitions=(competition,), opens_at=now() - timedelta(days=2))
            phase_changes.add_phase(
                session,
                challenge=challenge,
                user=organiser,
                key=key,
                title=key.title(),
                rules=rules,
                image_set=image_set,
                has_own_truth=image_set is not None,
            )
        version = make_truth(session, challenge, current=False)
        version.phase_id = trial = phase_named(challenge, "trial").id
        scoring = start_scoring(session, challenge=challenge, version=version)
        make_current(session, challenge=challenge, scoring=scoring, actor=None, phase_id=trial)
    base = f"/challenges/{challenge.slug}"
    with signed_in(embedded_site) as client:
        page = html.fromstring(client.get(f"{base}/data").text)
        links = {link.text: link.get("href") for link in page.xpath('//ul[@class="downloads"]//a')}
        assert links["Image sets of Main phase"] == f"/api/v1{base}/image-sets?phase=main"
        assert links["Image sets of Trial"] == f"/api/v1{base}/image-sets?phase=trial"
        assert "Image sets of Shapes" not in links  # the same as those of the main phase
        assert "Segmentation" in page.xpath('//div[@class="formats"]//h3/text()')
        commands = [" ".join(command.text_content().split()[4:]) for command in page.xpath("//section[2]/pre/code")]
        assert commands == ["--image-sets image-sets.json", "--image-sets image-sets-trial.json --image-set val"]
        assert f"/api/v1{base}/image-sets?phase=trial" in client.get(f"{base}/submit?phase=trial").text
