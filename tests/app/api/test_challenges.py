"""Challenges over the API: paged, changed field by field, every mistake told by its field."""

from typing import Any

import httpx
import pytest

from tests.support.factories import make_challenge, make_user
from tests.support.site import Site
from vocboard.app.accounts.models import Role

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


def test_only_what_is_given_changes(organiser: httpx.Client) -> None:
    path = organiser.post("/api/v1/challenges", json=NEW).headers["location"]
    before = without_phases(organiser.get(path).json()) | {"note": None}
    dates = {"opens_at": "2026-01-01T00:00:00Z", "closes_at": "2026-12-31T23:59:59+01:00"}
    after = without_phases(organiser.patch(path, json=dates).json())
    assert after == before | {"opens_at": "2026-01-01T00:00:00Z", "closes_at": "2026-12-31T22:59:59Z"}
    assert without_phases(organiser.patch(path, json={"closes_at": None}).json()) == after | {"closes_at": None}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": ""}, "title"),
        ({"title": None}, "title"),
        ({"competitions": ["comp99"]}, "competitions"),
        ({"decimals": 12}, "decimals"),
        ({"quota_count": 0}, "quota_count"),
        ({"quota_count": "two"}, "quota_count"),
        ({"quota_period_seconds": 0}, "quota_period_seconds"),
        ({"quota_period_seconds": 10**18}, "quota_period_seconds"),
        ({"opens_at": "2026-01-01T00:00:00"}, "opens_at"),
        ({"opens_at": "tomorrow"}, "opens_at"),
        ({"visibility": "secret"}, "visibility"),
        ({"slug": "another"}, "slug"),
        ({"quota_cuont": 1}, "quota_cuont"),
    ],
)
def test_errors_are_reported_by_field(organiser: httpx.Client, change: dict[str, Any], field: str) -> None:
    path = organiser.post("/api/v1/challenges", json=NEW).headers["location"]
    before = organiser.get(path).json()
    response = organiser.patch(path, json=change)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"] == "invalid_input"
    assert set(response.json()["fields"]) == {field}
    if field == "quota_cuont":
        assert response.json()["fields"][field] == "There is no such field. Do you mean 'quota_count'?"
    assert organiser.get(path).json() == before


def test_a_slug_is_taken_once(organiser: httpx.Client) -> None:
    assert organiser.post("/api/v1/challenges", json=NEW).status_code == 201
    assert organiser.post("/api/v1/challenges", json=NEW).status_code == 409


def test_lists_are_paged(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        organiser = make_user(session, role=Role.ORGANISER)
        slugs = {make_challenge(session, organiser=organiser, ready=False).slug for _ in range(5)}
    seen = []
    with embedded_site.client() as client:
        for number in range(1, 5):
            page = client.get("/api/v1/challenges", params={"page": number, "per_page": 2}).json()
            assert (page["page"], page["per_page"], page["total"]) == (number, 2, 5)
            seen += [item["slug"] for item in page["items"]]
        for wrong in ({"page": 0}, {"per_page": 0}, {"per_page": 10_000}, {"page": "x"}):
            assert client.get("/api/v1/challenges", params=wrong).status_code == 422
    assert len(seen) == 5
    assert set(seen) == slugs


def without_phases(challenge: dict[str, Any]) -> dict[str, Any]:
    """Leave out what says the same of the current phase again."""
    return {name: value for name, value in challenge.items() if name != "phases"}
