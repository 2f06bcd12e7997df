"""The organisers' area: setting up, changing, and who may."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from lxml import html
from sqlalchemy import select

from tests.browser.gallery import Gallery
from tests.support.browsing import from_here, send_form, signed_in, token_of
from tests.support.factories import make_challenge, make_organiser, make_truth, make_user
from tests.support.scored import make_published, make_submission
from tests.support.site import Site
from vocboard.app.accounts.models import Role, User
from vocboard.app.challenges.models import Admission, AdmissionRequest, PhaseAdmission, Visibility
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import now
from vocboard.app.leaderboards.models import Rescore, RescoreState
from vocboard.app.organising.phase_changes import add_phase
from vocboard.app.paging import PER_PAGE
from vocboard.app.submissions.models import State
from vocboard.evaluator.problems import Problem, Severity

NEW: dict[str, Any] = {
    "title": "Spring",
    "slug": "spring",
    "description": "One.\n\nTwo.",
    "edition": "VOC2012",
    "competitions": ["comp1", "comp3"],
    "opens_at": "2026-03-01T12:00",
    "closes_at": "",
    "quota_count": "3",
    "quota_days": "0.5",
    "decimals": "3",
    "visibility": "unlisted",
}


def send(client: httpx.Client, path: str, fields: dict[str, Any]) -> httpx.Response:
    token = token_of(client.get(path))
    return client.post(path, data={"csrf_token": token, **fields}, headers=from_here(client))


@pytest.fixture
def organiser(embedded_site: Site) -> str:
    with embedded_site.writing() as session:
        return make_organiser(session).email


def test_a_challenge_is_set_up_and_changed(embedded_site: Site, organiser: str) -> None:
    with signed_in(embedded_site, organiser) as client:
        made = send(client, "/organise/new", NEW)
        assert made.headers["location"] == "/organise/spring?done=created"
        page = client.get("/organise/spring").text
        assert "comp1, comp3" in page
        assert "3 submissions every 12 hours in competitions with the same ground truth together" in page
        assert "2026-03-01T12:00:00Z" in page
        form = client.get("/organise/spring/edit").text
        for value in ('value="2026-03-01T12:00"', 'value="0.5"', 'value="unlisted" checked', 'value="comp3" checked'):
            assert value in form
        assert 'value="comp2" checked' not in form
        changed = send(client, "/organise/spring/edit", {**NEW, "title": "Summer", "visibility": "public"})
        assert changed.headers["location"] == "/organise/spring?done=saved"
        with embedded_site.client() as visitor:
            assert "Summer" in visitor.get("/").text


def test_all_that_is_wrong_is_reported_and_all_that_was_typed_is_kept(embedded_site: Site, organiser: str) -> None:
    wrong = {
        **NEW,
        "slug": "No Slug!",
        "opens_at": "yesterday",
        "quota_count": "many",
        "quota_days": "x",
        "visibility": "?",
    }
    with signed_in(embedded_site, organiser) as client:
        first = send(client, "/organise/new", wrong)
        assert first.status_code == 422
        for field in ("opens_at", "quota_count", "quota_days", "visibility"):
            assert f'href="#{field}"' in first.text
        assert 'value="No Slug!"' in first.text
        second = send(client, "/organise/new", {**NEW, "slug": "No Slug!", "quota_count": "0", "quota_days": "9999"})
        assert second.status_code == 422
        for field in ("slug", "quota_count", "quota_days"):
            assert f'href="#{field}"' in second.text
        assert client.get("/organise/spring").status_code == 404


def test_the_checklist_says_whether_the_main_phase_has_a_deadline(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        dates = {"visibility": Visibility.DRAFT, "closes_at": now() + timedelta(days=1)}
        challenge = make_challenge(session, organiser=organiser, **dates)
        rules = PhaseRules(opens_at=now() - timedelta(days=2), competitions=("comp3",))
        add_phase(session, challenge=challenge, user=organiser, key="practice", title="Practice", rules=rules)
        page, email = f"/organise/{challenge.slug}", organiser.email
    with signed_in(embedded_site, email) as client:
        assert "It has a deadline." in client.get(page).text


def test_a_taken_name_is_a_conflict_reported_on_the_form(embedded_site: Site, organiser: str) -> None:
    with signed_in(embedded_site, organiser) as client:
        send(client, "/organise/new", NEW)
        again = send(client, "/organise/new", NEW)
    assert again.status_code == 409
    assert "Choose a different one." in again.text
    assert 'value="spring"' in again.text


def test_a_copy_that_is_refused_lists_its_errors(embedded_site: Site, organiser: str) -> None:
    with signed_in(embedded_site, organiser) as client:
        send(client, "/organise/new", NEW)
        refused = send_form(client, "/organise/spring/archive", "/organise/spring/copy", title="Autumn", new_slug="A b")
    assert refused.status_code == 422
    errors = html.fromstring(refused.text).xpath("//*[@role='alert']//a/@href")
    assert (errors, 'value="Autumn"' in refused.text, 'value="A b"' in refused.text) == (["#new_slug"], True, True)


def test_pages_are_called_like_their_tabs(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        base, email = f"/organise/{make_challenge(session).slug}", make_user(session, role=Role.ADMINISTRATOR).email
    with signed_in(embedded_site, email) as client:
        assert "<h1>Activity</h1>" in client.get(f"{base}/log").text
        assert "is under People → Organisers." in client.get(f"{base}/edit").text


def test_ground_truth_before_the_worker_has_started_is_refused_with_a_reason(
    embedded_site: Site, organiser: str
) -> None:
    with signed_in(embedded_site, organiser) as client:
        send(client, "/organise/new", NEW)
        token = token_of(client.get("/organise/spring"))
        answer = client.post(
            "/organise/spring/ground-truth",
            data={"csrf_token": token},
            files={"archive": ("devkit.tar.gz", b"anything")},
            headers=from_here(client),
        )
    assert answer.status_code == 409
    assert "worker" in answer.text
    assert 'name="archive"' in answer.text


def test_organisers_see_what_a_ground_truth_holds_and_why_one_failed(gallery_site: Site, gallery: Gallery) -> None:
    with signed_in(gallery_site, gallery.organiser) as client:
        page = client.get("/organise/voc2012").text
    assert "4\u2009952 images" in page
    assert "1\u2009234" in page
    assert "This image has no annotation." in page
    assert "Importing" in page
    assert "/organise/voc2012/submissions?state=failed" in page


def test_a_wrong_edition_file_is_reported_line_by_line_and_kept_for_correction(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        email = make_organiser(session).email
    aerial = (Path(__file__).parents[3] / "docs" / "editions" / "examples" / "aerial.toml").read_text()
    wrong = aerial.replace("threshold = 0.5", "threshold = 5").replace('title = "V', 'titel = "V')
    form = {"title": "Own", "slug": "own"}
    with signed_in(embedded_site, email) as client:
        form["csrf_token"] = token_of(client.get("/organise/new"))
        files = {"edition_file": ("aerial.toml", wrong.encode())}
        answer = client.post("/organise/new", data=form, files=files, headers=from_here(client))
        assert answer.status_code == 422
        assert "The edition file has 3 mistakes, listed at its field." in answer.text
        assert "edition file:7: overlap.threshold must be a fraction" in answer.text
        assert "threshold = 5" in answer.text.partition('name="edition_text"')[2]
        corrected = client.post("/organise/new", data=form | {"edition_text": aerial}, headers=from_here(client))
        assert corrected.status_code == 303, corrected.text
        page = client.get("/organise/own")
        assert "Aerial</a>, your own" in page.text
        fewer = aerial[: aerial.index("[[competitions]]\nnumber = 8")]
        replaced = client.post(
            "/organise/own/edition",
            data={"csrf_token": form["csrf_token"]},
            files={"edition_file": ("aerial.toml", fewer.encode())},
            headers=from_here(client),
        )
        assert replaced.status_code == 303
        assert "comp8" not in client.get("/organise/own").text


def test_an_archived_challenge_offers_nothing_that_it_would_refuse(embedded_site: Site, organiser: str) -> None:
    offers = {
        "": ("Before you open", 'action="/organise/spring/ground-truth'),
        "/statistics": ("Compute again",),
        "/phases": ("Add phase", "Give extra quota"),
        "/entrants": ("<summary>Ban<", ">Extra quota<"),
        "/submissions": ("Apply to all chosen",),
    }

    def pages(client: httpx.Client) -> dict[str, str]:
        return {path: client.get(f"/organise/spring{path}").text for path in offers}

    with embedded_site.writing() as session:
        owner = session.scalars(select(User).where(User.email == organiser)).one()
        challenge = make_challenge(session, organiser=owner, slug="spring", visibility=Visibility.DRAFT)
        make_published(session, challenge, make_user(session, name="Ada"), "A method", 0.5)
    with signed_in(embedded_site, organiser) as client:
        before = pages(client)
        assert send(client, "/organise/spring/archive", {}).status_code == 303
        after = pages(client)
        edit = client.get("/organise/spring/edit").text
    for path, offered in offers.items():
        for one in offered:
            assert one in before[path], (path, one)
            assert one not in after[path], (path, one)
    assert "This challenge is archived" in after[""]
    assert "This challenge is archived" in after["/statistics"]
    assert "Ban" not in after["/entrants"]  # no empty column
    assert "only what its page says and its visibility can change" in edit


def test_what_waits_for_organisers_is_counted(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        owner, ada, ben = make_organiser(session), make_user(session), make_user(session)
        busy, _ = (make_challenge(session, organiser=owner, slug=slug) for slug in ("busy", "calm"))
        for person, state in ((ada, State.FAILED), (ada, State.SCORED), (ben, State.FAILED)):
            make_submission(session, busy, person, "A method", {"comp1": ["car"]}, state=state)
        version = make_truth(session, busy, current=False)
        version.warnings = [Problem("unknown_class", Severity.WARNING, "'Plum' is not a class").as_json()]
        given = {"ground_truth_version_id": version.id, "reason": "Labels", "state": RescoreState.READY}
        session.add(Rescore(challenge_id=busy.id, **given))
        email = owner.email
    with signed_in(embedded_site, email) as client:
        listed, page = html.fromstring(client.get("/organise").text), client.get("/organise/busy").text
    cells = {
        slug: [
            " ".join(cell.text_content().split()) for cell in listed.xpath(f"//tr[th/a/@href='/organise/{slug}']/td")
        ]
        for slug in ("busy", "calm")
    }
    waiting = "2 failed submissionsground truth to confirm1 re-score to apply or discard"
    assert {slug: texts[-2:] for slug, texts in cells.items()} == {"busy": ["32 people", waiting], "calm": ["0", "–"]}
    assert "2 failed submissions" in page


def test_long_lists_of_people_come_in_pages(embedded_site: Site) -> None:
    people = range(PER_PAGE + 1)
    with signed_in(embedded_site, role=Role.ADMINISTRATOR) as client:
        with embedded_site.writing() as session:
            challenge = make_challenge(session)
            slug, [phase] = challenge.slug, challenge.phases
            for number in people:
                waiting = make_user(session, approved=False, name=f"Waiting {number}.")
                session.add(AdmissionRequest(phase_id=phase.id, user_id=waiting.id, answers=[]))
                session.add(PhaseAdmission(phase_id=phase.id, email=f"lab{number}@institute.example"))
        for path, shown in {
            "/organise/registrations": r"Waiting \d+\.</th>",
            f"/organise/{slug}/admission": r"Waiting \d+\.</h3>",
            f"/organise/{slug}/phases": r"lab\d+@institute.example</th>",
        }.items():
            first = client.get(path).text
            [older] = html.fromstring(first).xpath("//a[@rel='next']/@href")
            second = client.get(older).text
            found = [re.findall(shown, page) for page in (first, second)]
            assert [len(each) for each in found] == [PER_PAGE, 1]
            assert len({*found[0], *found[1]}) == len(people)
        one = client.get(f"/organise/{slug}/phases?q=LAB50@").text
        assert re.findall(r"lab\d+@institute.example</th>", one) == ["lab50@institute.example</th>"]
        assert "lab50" not in client.get(f"/organise/{slug}/phases?q=%25&page=2").text


@pytest.mark.parametrize(
    ("given", "is_archived", "links"),
    [
        ({"admission": Admission.APPROVED}, False, ["/phases#admissions", "/edit#admission"]),
        ({"visibility": Visibility.PRIVATE}, False, ["/phases#admissions", "/edit#admission"]),
        ({}, False, ["/edit#admission"]),
        ({"admission": Admission.APPROVED}, True, []),
    ],
)
def test_the_page_about_admission_links_to_forms_that_there_are(
    embedded_site: Site, given: dict[str, Any], is_archived: bool, links: list[str]
) -> None:
    with signed_in(embedded_site, role=Role.ADMINISTRATOR) as client:
        with embedded_site.writing() as session:
            challenge = make_challenge(session, **given)
            challenge.archived_at = now() if is_archived else None
            base = f"/organise/{challenge.slug}"
        page = html.fromstring(client.get(f"{base}/admission").text)
        assert page.xpath("//section//a[contains(@href, '#')]/@href") == [base + link for link in links]
        assert (f'action="{base}/admissions"' in client.get(f"{base}/phases").text) is ("/phases#admissions" in links)
