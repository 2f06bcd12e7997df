"""Submitting by the page's form, without scripts: the report, the quota, closed doors."""

import re
from datetime import timedelta

import httpx
import pytest
from lxml import html
from sqlalchemy import update

from tests.support.browsing import from_here, send_archive, send_form, signed_in, token_of
from tests.support.factories import make_challenge, make_organiser, make_token, make_user
from tests.support.phases import main_phase
from tests.support.site import Site
from tests.support.small_world import packed
from vocboard.app.challenges.models import Challenge, Freeze
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import now
from vocboard.app.organising.phase_changes import add_phase

CARS = packed([("comp3_det_test_car.txt", b"000001 0.5 1 1 9 9\n")])


@pytest.fixture
def small(embedded_site: Site) -> Challenge:
    with embedded_site.writing() as session:
        return make_challenge(session, competitions=["comp3"], quota_count=1)


def test_a_used_up_quota_says_when_the_next_is_allowed(embedded_site: Site, small: Challenge) -> None:
    path = f"/challenges/{small.slug}/submit"
    with signed_in(embedded_site) as client:
        first = upload(client, path)
        assert first.status_code == 303, first.text
        form = client.get(path)
        second = upload(client, path)
    assert form.status_code == 200
    assert second.status_code == 429
    for said in (form.text, second.text):
        assert "The quota of comp3 is used up" in said
        assert re.search(r"The next upload is possible from <time", said)
    assert 'value="Mine"' in second.text


@pytest.mark.parametrize("next_phase", [False, True])
def test_an_upload_that_began_in_time_is_checked_after_the_deadline(embedded_site: Site, next_phase: bool) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, competitions=["comp1", "comp4"])
        if next_phase:
            rules = PhaseRules(competitions=("comp1",), opens_at=now() - timedelta(hours=1))
            add_phase(session, challenge=challenge, user=organiser, key="next", title="Next", rules=rules)
    archive = packed([("comp4_det_test_car.txt", b"000001 0.5 1 1 9 9\n")])
    path = f"/challenges/{challenge.slug}/submit"
    with signed_in(embedded_site) as client:
        main = {"X-CSRF-Token": token_of(client.get(f"{path}?phase=main")), "Upload-Length": str(len(archive))}
        created = client.post(f"/api/v1/uploads?challenge={challenge.slug}&phase=main", headers=main)
        part = {**main, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
        assert client.patch(created.headers["Location"], content=archive, headers=part).status_code == 204
        with embedded_site.writing() as session:
            main_phase(session, challenge.id).closes_at = now()
        checked = client.post(f"{path}/check?upload={created.json()['id']}", headers={**main, **from_here(client)})
    assert checked.status_code == 200, checked.text
    form = html.fromstring(checked.text)
    assert form.xpath("//*[@data-checked]//strong"), "what the script puts into the form"
    assert form.xpath("//*[@data-declarations]//legend[text()='Images from flickr']")
    assert form.xpath("//*[@data-question='submit_incomplete']")


def test_the_image_sets_to_validate_with_are_those_of_the_chosen_phase(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, slug="spring")
        rules = PhaseRules(competitions=("comp1",), opens_at=now() - timedelta(days=9))
        add_phase(session, challenge=challenge, user=organiser, key="practice", title="Practice", rules=rules)
    with signed_in(embedded_site) as client:
        page = client.get("/challenges/spring/submit?phase=practice").text
    assert "/api/v1/challenges/spring/image-sets?phase=practice" in page


def test_a_store_that_cannot_be_reached_is_explained(embedded_site: Site, small: Challenge) -> None:
    with embedded_site.writing() as session:
        user = make_user(session)
        token, email = make_token(session, user), user.email
        main_phase(session, small.id).quota_count = 5
    path = f"/challenges/{small.slug}/submit"
    store = embedded_site.settings.archives
    with signed_in(embedded_site, email) as client, embedded_site.client(token) as program:
        page = upload(client, path).headers["location"].partition("?")[0]
        archives = (f"{page}/archive", f"/api/v1{page}/archive")
        aside = store.rename(store.with_name("elsewhere"))
        answers = [client.get(archives[0]), program.get(archives[1])]
        store.write_text("no directory")
        answers += [client.get(archives[0]), program.get(archives[1]), upload(client, path)]
        tus = {"Tus-Resumable": "1.0.0", "Upload-Length": "1"}
        answers.append(program.post("/api/v1/uploads", params={"challenge": small.slug}, headers=tus))
        assert client.get(page).status_code == 200
        store.unlink()
        aside.rename(store)
        assert client.get(archives[0]).status_code == 200
        assert upload(client, path).status_code == 303
    for answer in answers:
        assert answer.status_code == 503, answer.text
        assert "cannot reach the storage of its archives" in answer.text
        assert answer.headers["Retry-After"] == "60"
    assert answers[1].json()["code"] == "unavailable"
    assert "<h1" in answers[0].text


def upload(client: httpx.Client, path: str) -> httpx.Response:
    return send_archive(client, path, CARS, submit_incomplete="true", submit_identical="true")


def test_a_forged_upload_is_refused_before_it_is_read(embedded_site: Site, small: Challenge) -> None:
    path = f"/challenges/{small.slug}/submit"
    with signed_in(embedded_site) as client:
        answer = send_archive(client, path, b"anything", csrf_token="0" * 64)
    assert answer.status_code == 403


def test_a_missing_file_and_name_are_reported_at_their_fields(embedded_site: Site, small: Challenge) -> None:
    path = f"/challenges/{small.slug}/submit"
    with signed_in(embedded_site) as client:
        answer = send_archive(client, path, b"", "", method_name=" ", contributors="Ada")
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert 'href="#archive">Archive: Choose a file.' in answer.text
    assert 'value="Ada"' in answer.text


def test_closed_and_unready_challenges_offer_no_form(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        email = make_user(session).email
        told = {
            make_challenge(session, closes_at=now() - timedelta(hours=1)).slug: "Submissions have closed",
            make_challenge(session, opens_at=now() + timedelta(days=1)).slug: "You cannot submit yet. Opens",
            make_challenge(session, ready=False).slug: "the ground truth is not ready",
        }
    with signed_in(embedded_site, email) as client:
        for slug, text in told.items():
            page = client.get(f"/challenges/{slug}/submit")
            assert text in page.text
            assert 'name="archive"' not in page.text
        assert client.get("/").text.count("The ground truth is not ready yet.") == 1


def test_an_archived_challenge_offers_organisers_no_form_to_rehearse(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_organiser(session)
        slug, email = make_challenge(session, organiser=organiser).slug, organiser.email
        session.execute(update(Challenge).values(archived_at=now()))
    with signed_in(embedded_site, email) as client:
        page = client.get(f"/challenges/{slug}/submit?rehearsal=true").text
    assert "This challenge is archived." in page
    assert 'name="archive"' not in page


def test_a_user_who_may_not_submit_yet_is_reported_before_filling_in_the_form(
    embedded_site: Site, small: Challenge
) -> None:
    with signed_in(embedded_site, approved=False) as client:
        page = client.get(f"/challenges/{small.slug}/submit")
    assert "Your account is not approved yet" in page.text
    assert 'name="archive"' not in page.text


def test_the_form_begins_with_the_archive(embedded_site: Site, small: Challenge) -> None:
    with signed_in(embedded_site) as client:
        page = client.get(f"/challenges/{small.slug}/submit").text
    places = [page.index(f'name="{name}"') for name in ("csrf_token", "archive", "method_name", "training_data")]
    assert places == sorted(places)


def test_competitions_that_share_a_quota_are_shown_together(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        slug = make_challenge(session, competitions=["comp3", "comp9", "comp11"]).slug
    with signed_in(embedded_site) as client:
        table = html.fromstring(client.get(f"/challenges/{slug}/submit").text).xpath('//table[@class="quota"]')[0]
    assert [[cell.text for cell in part.iter("th")] for part in table.iter("tbody")] == [
        ["Detection", "comp3"],
        ["Action classification · Boxless action classification", "comp9", "comp11"],
    ]


def test_links_to_a_place_on_another_page_lead_to_it(embedded_site: Site, small: Challenge) -> None:
    with signed_in(embedded_site) as client:
        page = html.fromstring(client.get(f"/challenges/{small.slug}/submit").text)
        links = [link.split("#") for link in page.xpath("//main//a/@href") if "#" in link.lstrip("#")]
        assert [f"/challenges/{small.slug}/data", "formats"] in links
        for path, place in links:
            assert html.fromstring(client.get(path).text).xpath(f'//*[@id="{place}"]'), (path, place)


def test_fields_after_the_archive_are_kept_as_well(embedded_site: Site, small: Challenge) -> None:
    """As browsers send the form without scripts: in the order of its fields."""
    path = f"/challenges/{small.slug}/submit"
    with signed_in(embedded_site) as client:
        parts = {
            "csrf_token": (None, token_of(client.get(path))),
            "archive": ("results.tar.gz", b"no archive"),
            "method_name": (None, "Typed after the archive"),
        }
        refused = client.post(path, files=parts, headers=from_here(client))
    assert refused.status_code == 422
    assert "Choose the corrected archive" in refused.text
    assert 'value="Typed after the archive"' in refused.text


def test_the_next_form_is_filled_in_with_the_previous_answers(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        challenge = make_challenge(session, competitions=["comp3", "comp4"], quota_count=3)
        other, user = make_challenge(session), make_user(session, name="Ada", affiliation="Laboratory")
    path = f"/challenges/{challenge.slug}/submit"
    answers = {
        "method_name": "Mine",
        "method_description": "Finds things.",
        "contributors": "Ada, Bob",
        "affiliation": "Elsewhere",
        "training_data": "COCO",
        "flickr_images": "no",
    }
    with signed_in(embedded_site, user.email) as client:
        first = client.get(path)
        assert 'value="Ada"' in first.text
        assert "Filled in from" not in first.text
        archive = packed([("comp4_det_test_car.txt", b"000001 0.5 1 1 9 9\n")])
        sent = send_archive(client, path, archive, submit_incomplete="true", **answers)
        assert sent.status_code == 303, sent.text
        again, elsewhere = client.get(path).text, client.get(f"/challenges/{other.slug}/submit").text
    assert "Filled in from your last submission, “Mine”." in again
    for value in ("Mine", "Ada, Bob", "Elsewhere"):
        assert f'value="{value}"' in again
    assert ">Finds things.</textarea>" in again
    assert ">COCO</textarea>" in again
    assert 'name="flickr_images" value="no" checked' in again
    assert 'value="Ada, Bob"' in elsewhere
    assert "Finds things." not in elsewhere
    with signed_in(embedded_site, user.email) as client:
        (made,) = re.findall(r"/submissions/[0-9a-f-]{36}", sent.headers["location"])
        assert send_form(client, f"{made}/withdraw", f"{made}/withdraw").status_code == 303
        withdrawn = client.get(path).text
    assert "Filled in from" not in withdrawn
    assert 'value="Mine"' not in withdrawn
    for page in (again, elsewhere, withdrawn):
        assert not [text for text in html.fromstring(page).xpath("//p/text()[1]") if text.strip().startswith(".")]
    assert again.count('class="pip used"') == 2, "comp3 and comp4 share their quota"
    assert again.count('class="pip"') == 2 * 3 - 2
    assert "2 of 3 left" in again


def test_errors_of_the_archive_and_of_the_form_are_listed_together(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        challenge, email = make_challenge(session, competitions=["comp4"]), make_user(session).email
    path = f"/challenges/{challenge.slug}/submit"
    archive = packed([("comp4_det_test_car.txt", b"000001 0,5 1 1 9 9\n")])
    with signed_in(embedded_site, email) as client:
        answer = send_archive(client, path, archive, method_name="x" * 101)
    assert answer.status_code == 422
    assert "1 number has a decimal comma." in answer.text
    assert "Use at most 100 characters; this has 101." in answer.text
    assert "For comp4, describe the training data." in answer.text


def test_what_is_required_has_no_choice_to_decide_later(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        challenge, email = make_challenge(session, competitions=["comp5"]), make_user(session).email
    with signed_in(embedded_site, email) as client:
        page = client.get(f"/challenges/{challenge.slug}/submit").text
    (field,) = html.fromstring(page).xpath("//fieldset[@id='training_annotation']")
    assert "As described in the training data statement" in field.text_content()
    assert "Decide later" not in field.text_content()
    assert not field.xpath(".//input[@checked]")


def test_missing_classes_are_confirmed_before_quota_is_used(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        challenge, email = make_challenge(session, competitions=["comp3"], quota_count=1), make_user(session).email
    path = f"/challenges/{challenge.slug}/submit"
    with signed_in(embedded_site, email) as client:
        asked, accepted = (send_archive(client, path, CARS, **more) for more in ({}, {"submit_incomplete": "true"}))
    assert asked.status_code == 409
    assert "19 of the 20 classes of comp3 (aeroplane, bicycle, bird, boat, bottle and 14 more) have no" in asked.text
    assert 'name="submit_incomplete"' in asked.text
    assert accepted.status_code == 303, accepted.text


def test_results_that_seem_wrong_are_refused_without_their_tick_and_the_form_is_kept(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        challenge, email = make_challenge(session, competitions=["comp3"]), make_user(session).email
    path = f"/challenges/{challenge.slug}/submit"
    archive = packed([("comp3_det_test_car.txt", b"000001 0.5 0.1 0.1 0.9 0.9\n" * 5)])
    with signed_in(embedded_site, email) as client:
        asked, accepted = (
            send_archive(client, path, archive, submit_incomplete="true", **more)
            for more in ({}, {"accept_warnings": "true"})
        )
        assert client.get(accepted.headers["location"]).status_code == 200
    form = html.fromstring(asked.text)
    assert (asked.status_code, accepted.status_code) == (422, 303), asked.text
    assert "5 of 5 results of comp3" in form.text_content()
    assert form.xpath("//input[@name='accept_warnings'][@type='checkbox'][not(@checked)]")
    assert form.xpath("//input[@name='method_name']/@value") == ["Mine"]


def test_who_submits_after_the_freezing_date_is_not_told_that_publishing_at_once_counts(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        frozen = make_challenge(session, freeze=Freeze.DATE, freezes_at=now() - timedelta(days=1))
        email = make_user(session).email
    with signed_in(embedded_site, email) as client:
        text = client.get(f"/challenges/{frozen.slug}/submit").text
    assert "The leaderboards were frozen <time" in text
    assert "an upload in time counts" not in text
