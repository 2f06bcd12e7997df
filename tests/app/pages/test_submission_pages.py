"""A submission's page: who sees what of it, and what its buttons do."""

import re
from dataclasses import dataclass

import pytest
from lxml import html

from tests.browser.gallery import Gallery
from tests.support.browsing import send_form, sign_in, signed_in
from tests.support.factories import make_user
from tests.support.site import Site
from vocboard.app.submissions.models import State


@dataclass(frozen=True)
class Shown:
    site: Site
    gallery: Gallery

    def path(self, state: State) -> str:
        return f"/submissions/{self.gallery.submissions[state.value]}"


@pytest.fixture
def shown(gallery_site: Site, gallery: Gallery) -> Shown:
    return Shown(gallery_site, gallery)


@pytest.mark.parametrize("state", list(State))
def test_visitors_see_nothing_of_an_unpublished_submission(shown: Shown, state: State) -> None:
    with shown.site.writing() as session:
        other = make_user(session).email
    with shown.site.client() as client:
        assert client.get(shown.path(state)).status_code == 404
        sign_in(client, other)
        page = client.get(shown.path(state))
    assert page.status_code == 404
    assert "Own method" not in page.text


@pytest.mark.parametrize(
    ("state", "buttons"),
    [
        (State.QUEUED, ["Withdraw"]),
        (State.EVALUATING, ["Withdraw"]),
        (State.SCORED, ["Publish", "Withdraw"]),
        (State.FAILED, []),
        (State.WITHDRAWN, []),
    ],
)
def test_buttons_fit_the_state(shown: Shown, state: State, buttons: list[str]) -> None:
    with signed_in(shown.site, shown.gallery.participant) as client:
        page = client.get(shown.path(state)).text
    actions = re.findall(rf'(?:action|href)="{shown.path(state)}/(publish|unpublish|withdraw)"', page)
    assert list(dict.fromkeys(actions)) == [button.lower() for button in buttons]


def test_published_it_is_everyones_but_for_what_is_the_owners(shown: Shown) -> None:
    path = shown.path(State.SCORED)
    with signed_in(shown.site, shown.gallery.participant) as client:
        assert "results.tar.gz" in client.get(path).text
        assert send_form(client, path, f"{path}/publish").headers["location"] == f"{path}?done=published"
        assert ">Published.<" in client.get(f"{path}?done=published").text
        with shown.site.client() as visitor:
            page = visitor.get(path)
            assert page.status_code == 200
            for private in ("results.tar.gz", "5e" * 32, "9a" * 32, "upside down", "Unpublish", "Withdraw"):
                assert private not in page.text
        send_form(client, path, f"{path}/unpublish")
        with shown.site.client() as visitor:
            assert visitor.get(path).status_code == 404


def test_a_conflict_is_reported_on_the_page(shown: Shown) -> None:
    path = shown.path(State.FAILED)
    with signed_in(shown.site, shown.gallery.participant) as client:
        answer = send_form(client, path, f"{path}/publish")
    assert answer.status_code == 409
    assert "Only a scored submission can be published" in answer.text
    assert "Own method, failed" in answer.text


def test_the_anonymous_link_names_nobody_and_ends_when_revoked(shown: Shown) -> None:
    path = shown.path(State.SCORED)
    with shown.site.client() as client, shown.site.client() as reviewer:
        sign_in(client, shown.gallery.participant)
        made = send_form(client, path, f"{path}/anonymous-link")
        assert (made.status_code, made.headers["location"]) == (303, path)
        assert "/anonymous/" not in client.get(f"/submissions/{shown.gallery.submissions['failed']}").text
        sealed = client.cookies["vocboard_shown_once"]
        [token] = re.findall(r"/anonymous/([\w-]{43,})", client.get(path).text)
        assert token not in sealed
        assert token not in client.get(path).text, "shown once"
        assert reviewer.get(f"/anonymous/{shown.gallery.anonymous}").status_code == 404, "a new link ends the earlier"
        page = reviewer.get(f"/anonymous/{token}?competition=comp3")
        assert page.status_code == 200
        assert page.headers["x-robots-tag"] == "noindex, nofollow"
        assert page.headers["referrer-policy"] == "no-referrer"
        assert 'content="noindex, nofollow"' in page.text
        identifier = str(shown.gallery.submissions["scored"])
        for private in ("Own method", "Paula", "P. Participant", "Laboratory", "5e" * 32, identifier):
            assert private not in page.text
        sign_in(reviewer, shown.gallery.organiser)
        reviewer.cookies.set("vocboard_shown_once", sealed, domain="127.0.0.1")
        assert token not in reviewer.get(path).text, "of another session"
        send_form(client, path, f"{path}/anonymous-link/revoke")
        assert reviewer.get(f"/anonymous/{token}").status_code == 404


def test_scores_are_never_shown_more_precisely_than_the_challenge_says(shown: Shown) -> None:
    with signed_in(shown.site, shown.gallery.participant) as client:
        for key in ("comp1", "comp3", "comp5", "comp7"):
            page = client.get(f"{shown.path(State.SCORED)}?competition={key}").text
            cells = re.findall(r"<td[^>]*>(\d+\.\d+)</td>", page)
            assert len(cells) > 2
            assert all(len(cell.partition(".")[2]) <= 2 for cell in cells)


def test_whole_people_are_distinguished_from_parts(shown: Shown) -> None:
    with signed_in(shown.site, shown.gallery.participant) as client:
        page = client.get(f"{shown.path(State.SCORED)}?competition=comp7").text
    assert "Average precision of whole people" in page
    assert "12.30 %" in page


def test_the_list_shows_own_submissions_alone(shown: Shown) -> None:
    with signed_in(shown.site, shown.gallery.participant) as client:
        page = client.get("/submissions").text
    assert page.count("Own method") == 6
    assert "YOLO" not in page


def test_the_list_marks_means_over_some_of_the_classes(shown: Shown) -> None:
    with signed_in(shown.site, shown.gallery.participant) as client:
        page = html.fromstring(client.get("/submissions").text)
    [row] = page.xpath("//tr[contains(., 'Own method, scored')]")
    starred = dict(re.findall(r"(comp\d+) [\d.]+(\*?)", " ".join(row.text_content().split())))
    assert starred == {"comp1": "*", "comp3": "*", "comp5": "*", "comp7": ""}


def test_a_user_without_submissions_sees_an_empty_list(embedded_site: Site) -> None:
    with signed_in(embedded_site) as client:
        assert "You have not submitted anything yet." in client.get("/submissions").text
