"""Challenges over the API: paged, changed field by field, every mistake told by its field."""

from typing import Any

import httpx
import pytest
from sqlalchemy import update

from tests.support.challenge_pages import PAGE
from tests.support.factories import make_challenge, make_user
from tests.support.site import Site
from vocboard.app.accounts.models import Role
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now

LINK = PAGE["data_links"][0]
NEW: dict[str, Any] = {"slug": "voc2007", "title": "VOC2007", "edition": "VOC2007", "visibility": "public"}


@pytest.fixture
def site(embedded_site: Site) -> Site:
    return embedded_site


def test_a_new_challenge_has_all_competitions_of_its_edition(organiser: httpx.Client) -> None:
    response = organiser.post("/api/v1/challenges", json=NEW)
    assert response.status_code == 201
    assert response.headers["location"] == "/api/v1/challenges/voc2007"
    challenge = organiser.get(response.headers["location"]).json()
    assert challenge == response.json()
    assert [competition["key"] for competition in challenge["competitions"]] == [f"comp{n}" for n in range(1, 9)]
    assert challenge["competitions"][3]["result_file"] == "Main/comp4_det_test_{class}.txt"
    assert challenge["phase"] == "not_ready"
    rule = "2 submissions every 7 days in competitions with the same ground truth together"
    assert challenge["quota"] == {"count": 2, "period_seconds": 7 * 24 * 3600, "shared": True, "rule": rule}


@pytest.mark.parametrize(
    ("body", "media_type", "status", "told"),
    [
        ('{"title": "A"', "application/json", 400, "malformed_json"),
        ('{"title": "A"}', "text/plain", 415, "unsupported_media_type"),
        ('{"title": "A"}', None, 415, "unsupported_media_type"),
        ('{"titel": "A"}', "application/json", 422, {"titel": "There is no such field. Do you mean 'title'?"}),
        ('{"quota_count": "3"}', "application/json", 422, {"quota_count": "Send a number instead of a string."}),
        (
            '{"statistics": 1, "closes_at": 1790000000, '
            '"data_links": [{"title": "A", "url": "https://a.org", "bytes": "1"}]}',
            "application/merge-patch+json",
            422,
            {
                "statistics": "Send true or false instead of a number.",
                "closes_at": "Send a string instead of a number.",
                "data_links.0.bytes": "Send a number instead of a string.",
            },
        ),
        ('{"ladder_step": null, "team_size": 3.0, "statistics": true}', "application/json", 200, None),
    ],
)
def test_a_body_is_taken_as_it_is_written_or_not_at_all(
    organiser: httpx.Client, body: str, media_type: str | None, status: int, told: object
) -> None:
    path = organiser.post("/api/v1/challenges", json=NEW).headers["location"]
    headers = {"Content-Type": media_type} if media_type else {}
    answer = organiser.patch(path, content=body, headers=headers)
    assert answer.status_code == status, answer.text
    assert told in (answer.json().get("code"), answer.json().get("fields"))
    if status != 200:
        assert organiser.get(path).json()["title"] == NEW["title"]


def test_a_request_without_a_body_has_none(organiser: httpx.Client) -> None:
    path = organiser.post("/api/v1/challenges", json=NEW).headers["location"]
    answer = organiser.post(f"{path}/archive", json={"reason": "It is over"})
    assert (answer.status_code, answer.json()["fields"]) == (422, {"body": "This request takes no body."})
    assert organiser.post(f"{path}/archive", json={}).status_code == 200


def test_only_what_is_given_changes(organiser: httpx.Client) -> None:
    path = organiser.post("/api/v1/challenges", json=NEW).headers["location"]
    before = without_phases(organiser.get(path).json()) | {"note": None}
    dates = {"opens_at": "2026-01-01T00:00:00Z", "closes_at": "2026-12-31T23:59:59+01:00"}
    after = without_phases(organiser.patch(path, json=dates).json())
    assert after == before | {"opens_at": "2026-01-01T00:00:00Z", "closes_at": "2026-12-31T22:59:59Z"}
    assert without_phases(organiser.patch(path, json={"closes_at": None}).json()) == after | {"closes_at": None}


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"title": ""}, "title"),
    ({"title": None}, "title"),
    ({"competitions": ["comp99"]}, "competitions"),
    ({"summary": "x" * 161}, "summary"),
    ({"summary": None}, "summary"),
    ({"description": "\x00"}, "description"),
    ({"website": "javascript:alert(1)"}, "website"),
    ({"contact": "https//lab.example"}, "contact"),
    ({"contact": "<ada@lab.example>"}, "contact"),
    ({"citation": "x" * 5001}, "citation"),
    ({"organised_by": "\u202e"}, "organised_by"),
    ({"licence": "CC BY 4.0"}, "licence"),
    ({"licence": "javascript:alert(1)"}, "licence"),
    ({"data_links": [LINK | {"title": ""}]}, "data_links"),
    ({"data_links": [LINK | {"url": ""}]}, "data_links"),
    ({"data_links": [LINK, LINK | {"url": "data:text/html,x"}]}, "data_links"),
    ({"data_links": [LINK | {"bytes": -1}]}, "data_links"),
    ({"data_links": [LINK | {"bytes": 10**20}]}, "data_links"),
    ({"data_links": [LINK | {"sha256": "0"}]}, "data_links"),
    ({"data_links": [LINK] * 51}, "data_links"),
    ({"decimals": 12}, "decimals"),
    ({"quota_count": 0}, "quota_count"),
    ({"quota_count": "two"}, "quota_count"),
    ({"quota_period_seconds": 0}, "quota_period_seconds"),
    ({"quota_period_seconds": 10**18}, "quota_period_seconds"),
    ({"opens_at": "2026-01-01T00:00:00"}, "opens_at"),
    ({"opens_at": "tomorrow"}, "opens_at"),
    ({"closes_at": "2031-01-01T00:00:00"}, "closes_at"),
    ({"closes_at": "9999-12-31T00:00:00Z"}, "closes_at"),
    ({"closes_at": "2031-01-01T00:00:00Z", "leaderboard_from": "2030-01-01T00:00:00"}, "leaderboard_from"),
    ({"teams_until": "2026-01-01T00:00:00"}, "teams_until"),
    ({"teams_until": "0001-01-01T00:00:00Z"}, "teams_until"),
    ({"visibility": "secret"}, "visibility"),
    ({"slug": "another"}, "slug"),
    ({"quota_cuont": 1}, "quota_cuont"),
]


def test_errors_are_reported_by_field(organiser: httpx.Client) -> None:
    dates = {"closes_at": "2030-01-01T00:00:00Z", "leaderboard_from": "2030-01-01T00:00:00Z"}
    path = organiser.post("/api/v1/challenges", json=NEW | dates).headers["location"]
    before = organiser.get(path).json()
    for change, field in WRONG:
        response = organiser.patch(path, json={"summary": "Another one"} | change)
        assert response.headers["content-type"] == "application/problem+json"
        error = response.json()
        assert (response.status_code, error["code"], [*error["fields"]]) == (422, "invalid_input", [field]), change
    assert error["fields"] == {"quota_cuont": "There is no such field. Do you mean 'quota_count'?"}
    assert organiser.get(path).json() == before


def test_the_mistake_in_a_link_to_data_is_said_with_its_number(organiser: httpx.Client) -> None:
    wrong = NEW | {"data_links": [LINK, LINK | {"sha256": "abc"}]}
    fields = organiser.post("/api/v1/challenges", json=wrong).json()["fields"]
    assert fields == {"data_links": "Link 2, SHA-256: Give 64 hexadecimal digits."}


def test_what_the_page_says_is_stored_changed_and_copied(organiser: httpx.Client) -> None:
    path = organiser.post("/api/v1/challenges", json=NEW | PAGE).headers["location"]
    stored = organiser.get(path).json()
    assert {name: stored[name] for name in PAGE} == PAGE
    assert organiser.get("/api/v1/challenges").json()["items"][0]["summary"] == PAGE["summary"]
    organiser.patch(path, json={"data_links": PAGE["data_links"][:1], "contact": "https://ships.example/ask"})
    copied = organiser.post(f"{path}/copy", json={"slug": "voc2008"}).json()
    changed = {"data_links": PAGE["data_links"][:1], "contact": "https://ships.example/ask"}
    assert {name: copied[name] for name in PAGE} == PAGE | changed


def test_the_page_of_an_archived_challenge_can_be_kept_true(embedded_site: Site, organiser: httpx.Client) -> None:
    path = organiser.post("/api/v1/challenges", json=NEW).headers["location"]
    with embedded_site.writing() as session:
        session.execute(update(Challenge).values(archived_at=now()))
    assert organiser.patch(path, json=PAGE).status_code == 200
    assert organiser.patch(path, json={"decimals": 3}).status_code == 409


def test_lists_are_paged(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_user(session, role=Role.ORGANISER)
        slugs = {make_challenge(session, organiser=organiser, ready=False).slug for _ in range(5)}
    seen = []
    with embedded_site.client() as client:
        answer = client.get("/api/v1/challenges", params={"per_page": 2})
        for number in range(1, 4):
            page = answer.json()
            assert (page["page"], page["per_page"], page["total"]) == (number, 2, 5)
            seen += [item["slug"] for item in page["items"]]
            last = answer
            if "next" in answer.links:
                answer = client.get(answer.links["next"]["url"])
        assert {relation: link["url"] for relation, link in last.links.items()} == {
            "first": "/api/v1/challenges?per_page=2&page=1",
            "prev": "/api/v1/challenges?per_page=2&page=2",
            "last": "/api/v1/challenges?per_page=2&page=3",
        }
        beyond = client.get("/api/v1/challenges", params={"per_page": 2, "page": 9})
        assert (beyond.json()["items"], beyond.links["prev"]) == ([], last.links["last"] | {"rel": "prev"})
        for wrong in ({"page": 0}, {"per_page": 0}, {"per_page": 10_000}, {"page": "x"}):
            assert client.get("/api/v1/challenges", params=wrong).status_code == 422
    assert len(seen) == 5
    assert set(seen) == slugs


def without_phases(challenge: dict[str, Any]) -> dict[str, Any]:
    """Leave out what says the same of the current phase again."""
    return {name: value for name, value in challenge.items() if name != "phases"}
