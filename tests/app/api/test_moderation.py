"""Moderation over HTTP: by no route can a disqualified method be published; exports and imports as files."""

import re
import uuid

import httpx
import pytest
from sqlalchemy import select, update

from tests.support.browsing import send_form, signed_in
from tests.support.factories import make_challenge, make_organiser, make_token, make_user
from tests.support.scored import make_scored
from tests.support.site import Site
from vocboard.app.challenges.models import Audience, Challenge, ChallengeFile, ChallengePhase, Detail, FileKind
from vocboard.app.submissions.models import Submission
from vocboard.client.client import Client
from vocboard.client.errors import ClientError
from vocboard.commands.main import main

REASON = "Trained on the test set."
API = "/api/v1"


class Case:
    """A site with a published submission of ada to the challenge spring of olga."""

    def __init__(self, site: Site) -> None:
        self.site = site
        with site.writing() as session:
            olga = make_organiser(session, email="olga@lab.example")
            ada = make_user(session, email="ada@lab.example")
            challenge = make_challenge(session, organiser=olga, slug="spring")
            self.id = make_scored(session, challenge, ada, "Method").id
            self.twin = make_scored(session, challenge, ada, "Method", archive_sha256="1" * 64).id
            self.olga, self.ada = make_token(session, olga), make_token(session, ada)

    def post(self, token: str, path: str, **json: object) -> httpx.Response:
        with self.site.client(token) as client:
            return client.post(f"{API}{path}", json=json or None)

    def is_published(self) -> bool:
        with self.site.writing() as session:
            rows = [session.get_one(Submission, one) for one in (self.id, self.twin)]
            return any(row.published_at is not None for row in rows)


@pytest.fixture
def case(site: Site) -> Case:
    return Case(site)


def test_a_disqualified_method_cannot_be_published_by_any_route(
    case: Case, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = f"/submissions/{case.id}"
    published = case.post(case.ada, f"{path}/publish").json()
    assert published["published_at"] is not None
    done = case.post(case.olga, f"{path}/disqualify", reason=REASON)
    assert (done.status_code, done.json()["state"]) == (200, "disqualified")
    # The API, its owner and an organiser; the same method in another submission.
    assert case.post(case.ada, f"{path}/publish").status_code == 409
    assert case.post(case.olga, f"{path}/publish").status_code == 403
    assert case.post(case.ada, f"/submissions/{case.twin}/publish").status_code == 409
    assert case.post(case.ada, f"{path}/withdraw").status_code == 409
    assert case.post(case.ada, f"{path}/reinstate").status_code == 403
    assert case.post(case.olga, f"{path}/allow-publishing").status_code == 409
    # The pages.
    with signed_in(case.site, "ada@lab.example") as browser:
        assert REASON in browser.get(path).text
        assert send_form(browser, path, f"{path}/publish").status_code == 409
    # The client; at the command line, `vocboard status` says why. `vocboard admin` has tests of its own.
    with Client(case.site.url, case.ada) as client, pytest.raises(ClientError, match=REASON):
        client.publish(str(case.id))
    monkeypatch.setenv("VOCBOARD_SERVER", case.site.url)
    monkeypatch.setenv("VOCBOARD_TOKEN", case.ada)
    assert main(["status", str(case.id)]) == 0
    printed = capsys.readouterr()
    assert f"Organisers:      {REASON}" in printed.out
    assert not case.is_published()
    reinstated = case.post(case.olga, f"{path}/reinstate").json()
    for name in ("state", "published_at", "moderation_reason"):
        assert reinstated[name] == published[name]


def test_its_owner_is_told_the_reason_and_the_public_nothing(case: Case) -> None:
    case.post(case.ada, f"/submissions/{case.id}/publish")
    case.post(case.olga, f"/submissions/{case.id}/disqualify", reason=REASON)
    with case.site.client(case.ada) as owner, case.site.client() as visitor:
        seen = owner.get(f"{API}/submissions/{case.id}").json()
        assert (seen["moderation_reason"], seen["technical_reason"], seen["same_content"]) == (REASON, None, None)
        assert visitor.get(f"{API}/submissions/{case.id}").status_code == 404
        assert visitor.get(f"{API}/challenges/spring/leaderboards/comp1").json()["rows"] == []


def test_lists_and_log_over_the_api(case: Case) -> None:
    actions = {"action": "disqualify", "submissions": [str(case.id)], "reason": REASON}
    assert case.post(case.olga, "/challenges/spring/submissions/actions", **actions).json() == {
        "outcomes": [{"submission": str(case.id), "refusal": None}]
    }
    with case.site.client(case.olga) as client:
        listed = client.get(f"{API}/challenges/spring/submissions?state=disqualified").json()
        assert [(one["id"], one["means"]) for one in listed["items"]] == [(str(case.id), {"comp1": 0.1235})]
        [entrant] = client.get(f"{API}/challenges/spring/entrants").json()["items"]
        assert (entrant["email"], entrant["submissions"], entrant["disqualified"]) == ("ada@lab.example", 2, 1)
        log = client.get(f"{API}/challenges/spring/log?action=submission.disqualify").json()["items"]
        assert len(log) == 1
        assert log[0]["text"].endswith(f": “{REASON}”")
        assert client.get(f"{API}/challenges/spring/queue").json()["waiting"] == 0


def test_a_challenge_is_exported_and_imported_over_http(case: Case) -> None:
    case.post(case.ada, f"/submissions/{case.id}/publish")
    exported = case.post(case.olga, "/challenges/spring/export")
    assert (exported.status_code, exported.headers["content-type"]) == (200, "application/x-tar")
    assert len(exported.content) == int(exported.headers["content-length"])
    with case.site.client(case.olga) as client:
        files = {"archive": ("spring.vocboard.tar", exported.content)}
        imported = client.post(f"{API}/challenges/imports", data={"slug": "again"}, files=files)
        assert imported.status_code == 201, imported.text
        assert imported.headers["location"] == f"{API}/challenges/again"
        assert (imported.json()["phase"], imported.json()["visibility"]) == ("archived", "draft")
        boards = [client.get(f"{API}/challenges/{slug}/leaderboards/comp1").json() for slug in ("spring", "again")]
        rows = [[{**row, "submission": None, "method_id": None} for row in board["rows"]] for board in boards]
        assert rows[0] == rows[1] != []
        assert [bool(board["imported"]) for board in boards] == [False, True]
        wrong = client.post(f"{API}/challenges/imports", files={"archive": ("x.tar", b"not an export")})
        assert wrong.status_code == 422
        assert wrong.json()["problems"][0]["code"] == "not_an_export"
        assert client.patch(f"{API}/challenges/again", json={"quota_count": 3}).status_code == 409
        assert client.patch(f"{API}/challenges/again", json={"visibility": "public"}).status_code == 200
        assert client.post(f"{API}/challenges/again/reopen").json()["phase"] == "not_ready"


def test_the_page_of_an_archived_challenge_is_its_final_results(case: Case) -> None:
    case.post(case.ada, f"/submissions/{case.id}/publish")
    with case.site.client() as visitor, case.site.client(case.olga) as client:
        assert "Final results" not in visitor.get("/challenges/spring").text
        assert client.post(f"{API}/challenges/spring/archive").status_code == 200
        page = visitor.get("/challenges/spring").text
    assert "Final results" in page
    assert re.search(r"/methods/[0-9a-f-]{36}", page)
    assert "vocboard validate" not in page


def a_file(challenge_id: uuid.UUID, kind: FileKind) -> ChallengeFile:
    given = {"audience": Audience.PUBLIC, "title": "", "byte_count": 9, "sha256": "a" * 64, "media_type": "image/webp"}
    return ChallengeFile(challenge_id=challenge_id, kind=kind, name=f"{kind}.webp", **given)


def test_a_challenge_is_copied_for_the_next_year(case: Case) -> None:
    path = f"{API}/challenges/spring"
    with case.site.client(case.olga) as client:
        rules = {
            "quota_count": 3,
            "closes_at": "2040-01-01T00:00:00Z",
            "freeze": "date",
            "freezes_at": "2040-02-01T00:00:00Z",
            "teams_until": "2039-12-01T00:00:00Z",
        }
        assert client.patch(path, json=rules).status_code == 200
        for key, detail in (("shared", "mean"), ("open", "everything")):
            phase = {"key": key, "title": key, "detail": detail, "competitions": ["comp1"]}
            added = client.post(f"{path}/phases", json={**phase, "has_own_ground_truth": key == "open"})
            assert added.status_code == 201, added.text
        with case.site.writing() as session:  # which operators do at the end
            session.execute(update(ChallengePhase).where(ChallengePhase.key == "main").values(detail=Detail.EVERYTHING))
            challenge_id = session.scalars(select(Challenge.id).where(Challenge.slug == "spring")).one()
            session.add_all(a_file(challenge_id, kind) for kind in FileKind)
        copied = client.post(f"{path}/copy", json={"slug": "spring-2", "title": "Spring 2"})
        assert copied.status_code == 201, copied.text
        assert copied.headers["location"] == f"{API}/challenges/spring-2"
        assert client.post(f"{path}/copy", json={"slug": "spring-2"}).status_code == 409
        after = copied.json()
        assert (after["title"], after["visibility"], after["teams_until"]) == ("Spring 2", "draft", None)
        assert [(one["key"], one["detail"], one["closes_at"]) for one in after["phases"]] == [
            *(("main", "curves", None), ("shared", "mean", None), ("open", "everything", None))
        ]
        assert after["phases"][0]["quota"]["count"] == 3
        assert {one["freezes_at"] for one in after["phases"]} == {None}
        assert client.get(f"{API}/challenges/spring-2/leaderboards/comp1").json()["rows"] == []
        files = client.get(f"{API}/challenges/spring-2/files").json()["items"]
        assert {one["kind"] for one in files} == {"cover", "logo", "data"}
    with case.site.client(case.ada) as other:
        assert other.post(f"{path}/copy", json={"slug": "mine"}).status_code == 403


def test_a_withdrawn_submission_shows_no_scores_to_anybody(case: Case) -> None:
    path = f"{API}/submissions/{case.twin}"
    with case.site.client(case.ada) as ada, case.site.client(case.olga) as olga:
        assert ada.get(path).json()["competitions"]
        assert ada.post(f"{path}/withdraw").status_code == 200
        for client in (ada, olga):
            found = client.get(path).json()
            assert (found["state"], found["evaluation"], found["competitions"]) == ("withdrawn", None, {})
            assert client.get(f"{path}/curves/comp1").json()["curves"] == {}
