"""The page of a method to cite, what its owner may change about it, and what withdrawing means."""

import json
import re
import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from lxml import html
from sqlalchemy import select
from sqlalchemy.orm import joinedload

from tests.support.browsing import browser_of, send_form, sign_in, signed_in
from tests.support.factories import make_challenge, make_organiser, make_token, make_user
from tests.support.phases import complete, main_phase
from tests.support.scored import make_scored
from tests.support.site import Site
from vocboard.app.accounts import administration
from vocboard.app.accounts.models import LinkedIdentity
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges.models import Challenge, ChallengePhase
from vocboard.app.database import now
from vocboard.app.submissions.models import Method, State, Submission

LINKS = {"paper_url": "https://arxiv.org/abs/1311.2524?a=1&b=2", "code_url": "http://code.example:8080/r-cnn"}
SECRET = "learning rate 0.001 <b>"


@dataclass
class Scene:
    """A published version of a method, and a private one after it."""

    site: Site

    def __post_init__(self) -> None:
        with self.site.writing() as session:
            owner, organiser = make_user(session), make_organiser(session)
            challenge = make_challenge(session, organiser=organiser)
            self.owner, self.organiser, self.challenge_id = owner.email, organiser.email, challenge.id
            self.token, self.organisers_token = make_token(session, owner), make_token(session, organiser)
            given = {"competitions": ["comp1", "comp3"], "contributors": "A. Turing and G. Hopper, {K} J_1"}
            old = make_scored(session, challenge, owner, "R-CNN {50%}", score=0.5, published_at=now(), **given)
            new = make_scored(session, challenge, owner, "R-CNN {50%}", score=0.61, **given)
            self.old, self.new, self.method = old.id, new.id, old.method_id

    def get(self, path: str, who: str | None = None) -> Any:
        with browser_of(self.site, who) as client:
            return client.get(path)

    def page(self, who: str | None = None) -> Any:
        return self.get(f"/methods/{self.method}", who)

    def patch(self, submission_id: uuid.UUID, status: int = 200, **changes: str) -> Any:
        with self.site.client(self.token) as client:
            answer = client.patch(f"/api/v1/submissions/{submission_id}", json=changes)
        assert answer.status_code == status, answer.text
        return answer.json()


@pytest.fixture
def scene(embedded_site: Site) -> Scene:
    return Scene(embedded_site)


def test_people_who_wish_are_named_with_their_orcid_id(scene: Scene) -> None:
    address = "https://orcid.org/0000-0002-1825-0097"
    with scene.site.writing() as session:
        owner = administration.get_user(session, scene.owner)
        identity = LinkedIdentity(user_id=owner.id, issuer="https://orcid.org", subject=address[-19:])
        session.add_all([identity, LinkedIdentity(user_id=owner.id, issuer="https://uni.example", subject="7")])
        session.flush()
        given, name = {"linked": str(identity.id)}, owner.name
    assert address not in scene.page().text
    with scene.site.client() as client:
        sign_in(client, scene.owner)
        assert address in client.get("/account/sign-in").text
        send_form(client, "/account/sign-in", "/account/sign-in/show", is_shown="yes", **given)
        page = scene.page().text
        assert f'{name}: <a href="{address}"' in page
        assert "uni.example" not in page
        for shown in (scene.old, scene.new):
            send_form(client, f"/submissions/{shown}", f"/submissions/{shown}/unpublish")
        assert address not in scene.page(scene.owner).text
        send_form(client, f"/submissions/{scene.old}", f"/submissions/{scene.old}/publish")
        send_form(client, "/account/sign-in", "/account/sign-in/show", **given)
    assert address not in scene.page().text


def test_everyone_sees_what_is_published_and_how_to_cite_it(scene: Scene) -> None:
    page = scene.page()
    assert page.status_code == 200
    assert f'<link rel="canonical" href="{scene.site.settings.public_url}/methods/{scene.method}">' in page.text
    assert "50.00" in page.text
    assert "61.00" not in page.text, "a private version"
    assert "Your versions" not in page.text
    [bibtex] = re.findall(r'<pre id="bibtex"[^>]*>(.*?)</pre>', page.text, re.DOTALL)
    assert "title = {{R-CNN \\textbraceleft{}50\\%\\textbraceright{}}}" in bibtex
    assert "author = {A. Turing and G. Hopper and \\textbraceleft{}K\\textbraceright{} J\\_1}" in bibtex
    assert bibtex.count("{") == bibtex.count("}")
    assert 'property="og:description" content="comp1: 50.00' in page.text
    own = scene.page(scene.owner).text
    assert all(text in own for text in ("Your versions", "Version 1", "Version 2", "61.00"))


@pytest.mark.parametrize(
    "change",
    [
        {"published_at": None},
        {"state": State.DISQUALIFIED, "published_at": None},
        {"state": State.WITHDRAWN, "published_at": None},
        {"leaderboard_from": now() + timedelta(days=1)},
        {"anonymous_until": now() + timedelta(days=1)},
    ],
)
def test_it_shows_nothing_that_leaderboards_hide(scene: Scene, change: dict[str, Any]) -> None:
    result, link = f"/submissions/{scene.old}", f"/methods/{scene.method}"
    assert link in scene.get(result, scene.organiser).text
    with scene.site.writing() as session:
        for name, value in change.items():
            of: Any = session.get_one(Submission, scene.old)
            setattr(of if hasattr(of, name) else main_phase(session, scene.challenge_id), name, value)
    assert scene.page().status_code == scene.page(scene.organiser).status_code == 404
    assert link not in scene.get(result, scene.organiser).text
    assert "R-CNN" not in scene.page().text
    own = scene.page(scene.owner)
    assert own.status_code == 200
    assert "Only you see this page" in own.text
    assert "bibtex" not in own.text


def test_a_competition_that_was_left_out_is_not_there(scene: Scene) -> None:
    with scene.site.client(scene.token) as client:
        client.post(f"/api/v1/submissions/{scene.old}/unpublish", json={"competitions": ["comp3"]})
    assert "comp1" in scene.page().text
    assert "comp3" not in scene.page().text


def test_the_description_can_be_changed_and_the_log_keeps_the_old_one(scene: Scene) -> None:
    path = f"/submissions/{scene.old}"
    with signed_in(scene.site, scene.owner) as client:
        fields = {"method_description": "Two stages", "contributors": "Ada", "affiliation": "Lab", "note": SECRET}
        answer = send_form(client, f"{path}/edit", f"{path}/edit", **fields, **LINKS)
        assert answer.headers["location"] == f"{path}?done=described"
        assert "learning rate 0.001 &lt;b&gt;" in client.get(path).text
    for shown in (scene.page().text, scene.get(path).text):
        assert 'href="https://arxiv.org/abs/1311.2524?a=1&amp;b=2" rel="nofollow noopener ugc"' in shown
        assert "Two stages" in shown
    assert scene.patch(scene.new)["method"]["code_url"] == LINKS["code_url"], "the links are the method's"
    with scene.site.database.reading() as session:
        event = session.scalars(select(AuditEvent).where(AuditEvent.action == "submission.describe")).one()
    assert event.details["contributors"] == {"from": "A. Turing and G. Hopper, {K} J_1", "to": "Ada"}
    assert "note" not in event.details


def test_a_method_can_be_renamed_but_not_to_another_of_the_same_person(scene: Scene) -> None:
    path = f"/submissions/{scene.old}"
    with signed_in(scene.site, scene.owner) as client:
        answer = send_form(client, f"{path}/edit", f"{path}/edit", method_name="Renamed", **LINKS)
        assert answer.headers["location"] == f"{path}?done=described"
    assert scene.patch(scene.new)["method"]["name"] == "Renamed", "all versions have the name"
    with scene.site.writing() as session:
        method = session.get_one(Submission, scene.old, options=[joinedload(Submission.method)]).method
        session.add(Method(challenge_id=method.challenge_id, team_id=method.team_id, name="Taken"))
    with scene.site.client(scene.token) as client:
        refused = client.patch(f"/api/v1{path}", json={"method_name": "Taken"})
        empty = client.patch(f"/api/v1{path}", json={"method_name": " "})
    assert (refused.status_code, empty.status_code) == (422, 422)
    assert "another method of this name" in refused.json()["fields"]["method_name"]


def test_pages_of_a_submission_name_its_phase_if_the_challenge_has_several(scene: Scene) -> None:
    pages = (f"/submissions/{scene.old}", f"/methods/{scene.method}", "/submissions")
    assert not any("Main phase" in scene.get(path, scene.owner).text for path in pages)
    with scene.site.writing() as session:
        main = main_phase(session, scene.challenge_id)
        values = {column.key: getattr(main, column.key) for column in ChallengePhase.__table__.columns}
        practice = ChallengePhase(
            **{**values, "id": uuid.uuid4(), "key": "practice", "title": "Practice", "image_set": "val"}
        )
        session.add(practice)
        session.flush()
        session.get_one(Submission, scene.old).phase_id = practice.id
    assert "Submitted to Practice" in scene.get(f"/submissions/{scene.old}").text
    assert "Practice" in scene.page().text
    assert "Classification on val, trainval" in scene.page().text
    assert "Classification on val, trainval" in scene.get(f"/submissions/{scene.old}").text
    assert all("Practice" in scene.get(path, scene.owner).text for path in pages)
    assert "Submitted to Main phase" in scene.get(f"/submissions/{scene.new}", scene.owner).text


def test_the_note_is_the_owners_alone(scene: Scene) -> None:
    assert scene.patch(scene.old, note=SECRET)["note"] == SECRET
    with scene.site.client(scene.organisers_token) as organiser, scene.site.client() as visitor:
        for client in (organiser, visitor):
            for path in (f"/api/v1/submissions/{scene.old}", f"/submissions/{scene.old}", f"/methods/{scene.method}"):
                assert "learning rate" not in client.get(path).text
        assert organiser.get(f"/api/v1/submissions/{scene.old}").json()["note"] is None
    page = scene.get(f"/submissions/{scene.old}", scene.organiser).text
    assert "For organisers" in page
    assert "learning rate" not in page


def test_links_are_addresses_of_pages(scene: Scene) -> None:
    for link in (
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "//evil.example",
        "https://",
        "ftp://a.example/b",
        "https://arxiv.org@evil.example/",
        'https://a.example/"onclick="x',
        "https://a.example/a b",
        "https://a.example/\u202egro",
        "https://[::1",
        "https://a.example/" + "x" * 500,
    ):
        assert "paper_url" in scene.patch(scene.old, 422, paper_url=link)["fields"], link
    assert "Paper" not in scene.page().text


def test_rows_lead_to_the_paper_and_the_code_and_those_without_code_can_be_left_out(scene: Scene) -> None:
    with scene.site.writing() as session:
        challenge = complete(session, scene.challenge_id)
        path = f"/challenges/{challenge.slug}/leaderboards/comp1"
        make_scored(session, challenge, make_user(session), "Better <b>", score=0.7, published_at=now())
    nothing = scene.get(f"{path}?code=only").text
    assert "No method has a link to its code." in nothing
    scene.patch(scene.old, **LINKS)

    def rows(query: str) -> tuple[Any, list[tuple[str, ...]]]:
        page = html.fromstring(scene.get(path + query).text)
        found = page.xpath("//table[contains(@class,'board')]/tbody/tr")
        return page, [
            (row.xpath("string(td[1])"), row.xpath("string(th/*[1])"), *row.xpath("th/small/a/@href")) for row in found
        ]

    page, all_rows = rows("")
    linked = ("2", "R-CNN {50%}", LINKS["paper_url"], LINKS["code_url"])
    assert all_rows == [("1", "Better <b>"), linked]
    assert {*page.xpath("//th/small/a/@rel")} == {"nofollow noopener ugc"}
    assert page.xpath("//th/small/a/@aria-label") == ["Paper of R-CNN {50%}", "Code of R-CNN {50%}"]
    [ranking] = page.xpath("//script[@type='application/ld+json']/text()")
    assert [
        (one["position"], one["name"], one["url"].rpartition("/")[0]) for one in json.loads(ranking)["itemListElement"]
    ] == [
        (1, "Better <b>", f"{scene.site.settings.public_url}/methods"),
        (2, "R-CNN {50%}", f"{scene.site.settings.public_url}/methods"),
    ]
    only, some_rows = rows("?code=only")
    assert some_rows == [linked], "with its rank on the whole leaderboard"
    [count] = only.find_class("count")
    assert count.text_content() == "1 of 2 methods"
    assert rows("?code=only&q=better")[1] == []
    with scene.site.client() as client:
        answer = client.get(f"/api/v1{path}").json()["rows"]
    assert [(one["paper_url"], one["code_url"]) for one in answer] == [("", ""), tuple(LINKS.values())]
    assert answer[1]["method_id"] == str(scene.method)


def test_withdrawing_says_what_happens_and_it_does(scene: Scene) -> None:
    path = f"/submissions/{scene.old}/withdraw"
    page = scene.get(path, scene.owner).text
    assert "It leaves the leaderboards of comp1, comp3 at once" in page
    assert "You do not get your quota back" in page
    assert "Its archive stays on the server, because another submission of yours has the same one." in page
    with scene.site.writing() as session:
        session.get_one(Submission, scene.old).published_at = now() - timedelta(hours=2)
        session.get_one(Submission, scene.old).archive_sha256 = "c" * 64
        challenge = session.get_one(Challenge, scene.challenge_id)  # that others have the same is not told
        make_scored(session, challenge, make_user(session), "A copy", archive_sha256="c" * 64)
        main_phase(session, scene.challenge_id).closes_at = now() - timedelta(hours=1)
    scene.get("/challenges")
    scene.patch(scene.new, note="the board freezes before anything changes")
    page = scene.get(path, scene.owner).text
    assert "The frozen leaderboards of comp1, comp3 go on showing it" in page
    assert "It leaves the leaderboards" not in page
    assert "deleted from the server after 30 days" in page
    with signed_in(scene.site, scene.owner) as client:
        send_form(client, path, path)
        assert client.get(path).status_code == 409
        listed = html.fromstring(client.get("/submissions").text)
    assert listed.xpath('//tr[contains(., "Withdrawn")]//td[@data-label="Means, %"]/b') == []
    assert listed.xpath('//tr[contains(., "Scored")]//td[@data-label="Means, %"]/b') != []
    with scene.site.client() as client:
        slug = client.get("/api/v1/challenges").json()["items"][0]["slug"]
        [row] = client.get(f"/api/v1/challenges/{slug}/leaderboards/comp1").json()["rows"]
    assert row["submission"] == str(scene.old)
    assert scene.page().status_code == 404


@pytest.mark.parametrize(
    ("given", "untrue"), [({"is_rehearsal": True}, "quota back"), ({"has_archive": False}, "archive")]
)
def test_withdrawing_promises_nothing_of_what_is_not_there(
    embedded_site: Site, given: dict[str, bool], untrue: str
) -> None:
    with embedded_site.writing() as session:
        owner = make_organiser(session)
        made = make_scored(session, make_challenge(session, organiser=owner), owner, "Mine", **given)
        path, email = f"/submissions/{made.id}/withdraw", owner.email
    with signed_in(embedded_site, email) as client:
        [happens] = html.fromstring(client.get(path).text).xpath("//section[@aria-labelledby='consequences']")
    assert "remains listed as withdrawn" in happens.text_content()
    assert untrue not in happens.text_content()
