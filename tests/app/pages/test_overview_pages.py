"""Organisers' lists and actions in the browser."""

import uuid

import httpx
from lxml import html
from sqlalchemy import select

from tests.browser.gallery import Gallery
from tests.support.browsing import from_here, send_form, signed_in, token_of
from tests.support.factories import make_challenge, make_organiser
from tests.support.scored import make_scored
from tests.support.site import Site
from vocboard.app.accounts.models import User
from vocboard.app.database import now
from vocboard.app.submissions.models import State, Submission

LIST = "/organise/voc2012/submissions"


def state_of(site: Site, submission_id: uuid.UUID) -> State:
    with site.writing() as session:
        return session.get_one(Submission, submission_id).state


def send_action(client: httpx.Client, path: str, to: str, **fields: object) -> httpx.Response:
    return client.post(to, data={"csrf_token": token_of(client.get(path)), **fields}, headers=from_here(client))


def test_organisers_filter_submissions_and_see_why_one_failed(gallery_site: Site, gallery: Gallery) -> None:
    with signed_in(gallery_site, gallery.organiser) as client:
        everything = client.get(LIST).text
        failed = client.get(f"{LIST}?state=failed&sort=mean").text
        nothing = client.get(f"{LIST}?q=no-such-method&state=nonsense&page=x").text
        ascending = html.fromstring(client.get(f"{LIST}?sort=mean&order=ascending").text)
        page = client.get(f"/submissions/{gallery.submissions['failed']}").text
    assert "Paula Participant" in everything
    assert "DPM-002" in everything
    assert "Own method, failed" in failed
    assert "DPM-002" not in failed
    assert "No submission matches the filters." in nothing
    assert dict(ascending.xpath('//form[@role="search"]')[0].form_values()).get("order") == "ascending"
    assert "Technical reason" in page
    with signed_in(gallery_site, gallery.participant) as client:
        assert "Technical reason" not in client.get(f"/submissions/{gallery.submissions['failed']}").text


def test_several_submissions_are_disqualified_at_once(gallery_site: Site, gallery: Gallery) -> None:
    scored, withdrawn = gallery.submissions["scored"], gallery.submissions["withdrawn"]
    chosen = {"submission": [str(scored), str(withdrawn)], "action": "disqualify"}
    with signed_in(gallery_site, gallery.organiser) as client:
        without_reason = send_action(client, LIST, f"{LIST}/actions", **chosen)
        done = send_action(client, LIST, f"{LIST}/actions", **chosen, reason="Two accounts.")
        none_chosen = send_action(client, LIST, f"{LIST}/actions", action="disqualify", reason="Two accounts.")
        filtered = f"{LIST}?state=disqualified&q=own"
        (form,) = html.fromstring(client.get(filtered).text).xpath("//form[contains(@action, '/submissions/actions')]")
        chosen = {"submission": str(scored), "action": "reinstate"}
        beyond = client.get(f"{filtered}&page=2").text
        kept = send_action(client, LIST, form.get("action"), **chosen)
    assert kept.headers["location"] == f"{filtered}&done=bulk"
    assert "Own method, scored" in beyond  # as after an action on all of the last page
    assert without_reason.status_code == none_chosen.status_code == 422
    assert 'name="reason" value="Two accounts."' in none_chosen.text
    assert "Reason: Required." in without_reason.text
    assert 'value="disqualify" selected' in without_reason.text
    assert f'value="{scored}" aria-label="Choose Own method, scored, Paula Participant" checked' in without_reason.text
    assert "Done for 1 submission; 1 was left as it is:" in done.text
    assert "The submission is already withdrawn." in done.text
    states = (State.SCORED, State.WITHDRAWN)
    assert tuple(state_of(gallery_site, each) for each in (scored, withdrawn)) == states, "it was put back"


def test_the_owner_sees_why_a_submission_is_disqualified_and_no_button_to_publish(
    gallery_site: Site, gallery: Gallery
) -> None:
    path = f"/submissions/{gallery.submissions['scored']}"
    with signed_in(gallery_site, gallery.organiser) as organiser, signed_in(gallery_site, gallery.participant) as owner:
        refused = send_form(organiser, path, f"{path}/disqualify", reason=" ")
        assert (refused.status_code, "Reason: Required." in refused.text) == (422, True)
        done = send_form(organiser, path, f"{path}/disqualify", reason="Trained on <test> images.")
        assert done.headers["location"] == f"{path}?done=disqualified"
        page = owner.get(path).text
        assert "Disqualified by the organisers on <time" in page
        assert "Trained on &lt;test&gt; images." in page
        assert f"{path}/publish" not in page
        again = send_form(owner, path, f"{path}/publish")
        assert again.status_code == 409
        assert "cannot be published" in again.text
    assert state_of(gallery_site, gallery.submissions["scored"]) is State.DISQUALIFIED


def test_an_entrant_is_banned_and_the_ban_lifted(gallery_site: Site, gallery: Gallery) -> None:
    with gallery_site.writing() as session:
        person = str(session.scalars(select(User.id).where(User.email == gallery.participant)).one())
    page, base = "/organise/voc2012/entrants", "/organise/voc2012/bans"
    with (
        signed_in(gallery_site, gallery.organiser) as organiser,
        signed_in(gallery_site, gallery.participant) as entrant,
    ):
        done = send_form(organiser, page, base, person=person, reason="Two accounts.", results="unpublish")
        assert done.headers["location"] == f"{page}?done=banned"
        assert "Two accounts." in organiser.get(page).text
        submit = entrant.get("/challenges/voc2012/submit").text
        assert "The organisers have banned you from this challenge: “Two accounts.”" in submit
        assert 'type="file"' not in submit
        refused = entrant.get("/organise/voc2012/entrants")
        assert refused.status_code == 403
        lifted = send_form(organiser, page, f"{base}/{person}/lift")
        assert lifted.headers["location"] == f"{page}?done=ban-lifted"
        log = organiser.get("/organise/voc2012/log").text
        assert "banned Paula Participant from the challenge" in log
        assert "lifted the ban of Paula Participant" in log
        file = organiser.get("/organise/voc2012/log.csv?action=challenge.ban")
        assert file.headers["content-type"].startswith("text/csv")
        assert len(file.text.splitlines()) == 3  # the heads, this ban, and the one of the gallery


def test_the_log_of_the_server_names_the_challenge_of_each_event(gallery_site: Site, gallery: Gallery) -> None:
    with signed_in(gallery_site, gallery.administrator) as administrator:
        log = administrator.get("/organise/log?action=challenge.ban").text
        assert '<a class="small" href="/organise/voc2012">Visual object classes 2012</a>' in log
        assert 'class="small" href="/organise/' not in administrator.get("/organise/voc2012/log").text


def test_what_an_organiser_unpublishes_stays_so_as_the_message_says(gallery_site: Site, gallery: Gallery) -> None:
    with gallery_site.writing() as session:
        of_open = Submission.challenge.has(slug="voc2012")
        published = session.scalars(select(Submission.id).where(Submission.published_at.is_not(None), of_open)).first()
    path = f"/submissions/{published}"
    with signed_in(gallery_site, gallery.organiser) as client:
        done = send_form(client, path, f"{path}/unpublish", reason="The file was wrong.")
        assert done.headers["location"] == f"{path}?done=held-back"
        assert (
            "Its owner cannot publish it again until an organiser allows it."
            in client.get(f"{path}?done=held-back").text
        )


def test_organisers_hold_back_a_result_of_their_own_where_the_page_says_so(gallery_site: Site) -> None:
    with gallery_site.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser)
        own, email = make_scored(session, challenge, organiser, "Own", published_at=now()).id, organiser.email
    path = f"/submissions/{own}"
    with signed_in(gallery_site, email) as client:
        [form] = html.fromstring(client.get(path).text).xpath(f"//form[@action='{path}/unpublish'][.//textarea]")
        fields = {**dict(form.form_values()), "reason": "A mistake"}
        done = client.post(form.get("action"), data=fields, headers=from_here(client))
    assert done.headers["location"] == f"{path}?done=held-back"
    with gallery_site.writing() as session:
        found = session.get_one(Submission, own)
        assert (found.held_back_at is not None, found.moderation_reason) == (True, "A mistake")


def test_a_reason_that_no_export_could_hold_is_refused(gallery_site: Site, gallery: Gallery) -> None:
    path = f"/submissions/{gallery.submissions['failed']}"
    with signed_in(gallery_site, gallery.organiser) as client:
        refused = send_form(client, path, f"{path}/evaluate-again", reason="a\x82b")
    assert refused.status_code == 422
    assert "Remove the invisible character U+0082" in refused.text


def test_evaluating_again_twice_is_refused_on_the_page_of_the_submission(gallery_site: Site, gallery: Gallery) -> None:
    path = f"/submissions/{gallery.submissions['scored']}"
    with signed_in(gallery_site, gallery.organiser) as client:
        assert send_form(client, path, f"{path}/evaluate-again").status_code == 303
        again = send_form(client, path, f"{path}/evaluate-again")
    assert again.status_code == 409
    assert "This submission is already being evaluated again" in again.text
    assert "Own method, scored" in again.text


def test_the_queue_says_that_no_worker_looks_for_work(gallery_site: Site, gallery: Gallery) -> None:
    with signed_in(gallery_site, gallery.organiser) as client:
        page = client.get("/organise/voc2012/queue").text
    assert "No worker has looked for work in the last day." in page
    assert "Own method, queued" in page
