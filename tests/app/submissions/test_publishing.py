"""Publishing some competitions of a submission, and replacing what the same method has published."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from tests.support.browsing import send_form, signed_in
from tests.support.factories import make_challenge, make_organiser, make_token, make_user
from tests.support.phases import main_phase
from tests.support.scored import make_scored, make_submission
from tests.support.site import Site
from vocboard.app.audit.models import AuditEvent
from vocboard.app.database import now
from vocboard.app.submissions.models import State, Submission

BOTH = ["comp1", "comp3"]


@dataclass
class Scene:
    """A method with two scored versions in two competitions."""

    site: Site

    def __post_init__(self) -> None:
        with self.site.writing() as session:
            owner = make_user(session)
            challenge = make_challenge(session, organiser=make_organiser(session))
            self.email, self.token = owner.email, make_token(session, owner)
            self.slug, self.challenge_id = challenge.slug, challenge.id
            self.first, self.second = (
                make_scored(
                    session, challenge, owner, "Method", competitions=BOTH, score=score, archive_sha256=digit * 64
                )
                for score, digit in ((0.5, "a"), (0.6, "b"))
            )
            self.first, self.second = self.first.id, self.second.id

    def post(self, submission_id: uuid.UUID, action: str, status: int = 200, **body: Any) -> Any:
        with self.site.client(self.token) as client:
            answer = client.post(f"/api/v1/submissions/{submission_id}/{action}", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def board(self, competition: str) -> list[str]:
        """Submissions on the leaderboard that visitors see."""
        with self.site.client() as client:
            rows = client.get(f"/api/v1/challenges/{self.slug}/leaderboards/{competition}").json()["rows"]
        return [row["submission"] for row in rows]

    def get(self, path: str, token: str | None = None) -> Any:
        with self.site.client(token) as client:
            return client.get(path)

    def published(self, submission_id: uuid.UUID) -> Any:
        """The published competitions, as its owner sees them."""
        return self.get(f"/api/v1/submissions/{submission_id}", self.token).json()["published_competitions"]

    def events(self, submission_id: uuid.UUID) -> list[tuple[str, dict[str, Any]]]:
        with self.site.database.reading() as session:
            query = select(AuditEvent).where(AuditEvent.object_id == submission_id).order_by(AuditEvent.created_at)
            return [(event.action, event.details) for event in session.scalars(query)]


@pytest.fixture
def scene(embedded_site: Site) -> Scene:
    return Scene(embedded_site)


def test_what_is_left_out_is_on_no_view_of_others(scene: Scene) -> None:
    address = f"/api/v1/submissions/{scene.first}"
    scene.post(scene.first, "publish", competitions=["comp1"])
    assert (scene.board("comp1"), scene.board("comp3")) == ([str(scene.first)], [])
    seen = scene.get(address).json()
    assert set(seen["competitions"]) == set(seen["entered"]) == {"comp1"}
    assert scene.get(f"{address}/curves/comp1").json()["curves"]
    assert scene.get(f"{address}/curves/comp3").status_code == 404
    for query in ("", "?competition=comp3"):
        page = scene.get(f"/submissions/{scene.first}{query}").text.partition("<main")[2]  # links keep the address
        assert "Classification" in page
        assert "comp3" not in page
    compared = scene.get(f"/challenges/{scene.slug}/leaderboards/comp3/compare?method={scene.first}&class=car").text
    assert "0.12" not in compared
    own = scene.get(address, scene.token).json()
    assert set(own["competitions"]) == set(BOTH)

    scene.post(scene.first, "publish")
    assert scene.board("comp3") == [str(scene.first)]
    scene.post(scene.first, "unpublish", competitions=["comp1"])
    assert (scene.board("comp1"), scene.board("comp3")) == ([], [str(scene.first)])
    assert scene.post(scene.first, "unpublish", competitions=["comp3"])["published_at"] is None
    assert scene.get(address).status_code == 404
    assert scene.post(scene.first, "publish")["published_competitions"] == BOTH, "what was left out before is forgotten"


def test_a_version_replaces_another_where_it_is_published(scene: Scene) -> None:
    scene.post(scene.first, "publish")
    refusal = scene.post(scene.second, "publish", 409, competitions=["comp1"])["detail"]
    assert f"already has a published result in comp1: submission {scene.first}. Replace that one" in refusal
    assert (scene.published(scene.first), scene.published(scene.second)) == (BOTH, [])
    scene.post(scene.second, "publish", competitions=["comp1"], replace=True)
    assert (scene.board("comp1"), scene.board("comp3")) == ([str(scene.second)], [str(scene.first)])
    scene.post(scene.second, "publish", replace=True)
    assert (scene.published(scene.first), scene.published(scene.second)) == ([], BOTH)
    assert scene.get(f"/api/v1/submissions/{scene.first}").status_code == 404
    unpublished = [details for action, details in scene.events(scene.first) if action == "submission.unpublish"]
    by = str(scene.second)
    assert unpublished == [
        {"competitions": ["comp1"], "replaced_by": by},
        {"competitions": ["comp3"], "replaced_by": by},
    ]


@pytest.mark.parametrize(
    "change",
    [{"state": State.DISQUALIFIED, "moderation_reason": "No."}, {"held_back_at": now()}, {"is_rehearsal": True}],
)
def test_what_cannot_be_published_replaces_nothing(scene: Scene, change: dict[str, Any]) -> None:
    scene.post(scene.first, "publish")
    with scene.site.writing() as session:
        for name, value in change.items():
            setattr(session.get_one(Submission, scene.second), name, value)
    scene.post(scene.second, "publish", 409, replace=True)
    assert scene.board("comp1") == scene.board("comp3") == [str(scene.first)]


def test_declarations_do_not_tell_in_which_competitions_a_result_is_private(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        owner = make_user(session)
        made = make_submission(
            session,
            make_challenge(session, competitions=["comp3", "comp4", "comp6"]),
            owner,
            "Method",
            {"comp3": ["car"], "comp4": ["car"], "comp6": ["car"]},
            declarations={"training_data": "Own images", "old": "nobody asks for it"},
            segmentation_classes=["car"],
            published_at=now(),
        )
        for entry in made.entries[1:]:
            entry.is_private = True
        address, token = f"/submissions/{made.id}", make_token(session, owner)
    with embedded_site.client() as visitor, embedded_site.client(token) as client:
        shown, own = (each.get(f"/api/v1{address}").json() for each in (visitor, client))
        assert "Own images" not in visitor.get(address).text
    assert own["not_declared"]
    assert own["method"]["declarations"] == {"training_data": "Own images", "old": "nobody asks for it"}
    assert (shown["not_declared"], shown["segmentation_classes"]) == ([], None)
    assert shown["method"]["declarations"] == {"old": "nobody asks for it"}
    assert shown["method"]["training_data"] == ""


def test_replacing_after_closing_changes_no_frozen_leaderboard(scene: Scene) -> None:
    scene.post(scene.first, "publish", competitions=["comp1"])
    with scene.site.writing() as session:
        main_phase(session, scene.challenge_id).closes_at = now() - timedelta(seconds=1)
        session.get_one(Submission, scene.first).published_at = now() - timedelta(hours=1)
    path = f"/api/v1/challenges/{scene.slug}/leaderboards"
    scene.post(scene.second, "publish", replace=True)
    scene.post(scene.first, "publish", 409, competitions=["comp3"])
    assert scene.board("comp1") == [str(scene.first)]
    assert scene.board("comp3") == [], "published in comp1 in time, which is not in comp3"
    later = scene.get(f"{path}/comp1?results=later").json()["rows"]
    assert [row["submission"] for row in later] == [str(scene.second)]


def test_the_page_offers_what_can_be_published_and_replaced(scene: Scene) -> None:
    path = f"/submissions/{scene.second}"
    scene.post(scene.first, "publish", competitions=["comp1"])
    with signed_in(scene.site, scene.email) as client:
        page = client.get(path).text
        assert "Replace published result" in page
        nothing = send_form(client, path, f"{path}/publish", is_choice="true", replace="true")
        assert nothing.status_code == 422
        assert "Competitions: Choose at least one competition." in nothing.text
        answer = send_form(client, path, f"{path}/publish", is_choice="true", competitions="comp1", replace="true")
        assert answer.headers["location"] == f"{path}?done=replaced"
        page = client.get(path).text
        assert "Publish the rest" in page
        assert "published: comp1" in page
    assert (scene.board("comp1"), scene.board("comp3")) == ([str(scene.second)], [])
    assert scene.published(scene.first) == []


@pytest.mark.parametrize("competitions", [[], ["comp5"]])
def test_wrong_competitions_are_refused(scene: Scene, competitions: list[str]) -> None:
    for action in ("publish", "unpublish"):
        scene.post(scene.first, action, 422, competitions=competitions)
