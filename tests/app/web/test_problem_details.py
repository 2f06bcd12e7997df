"""Errors are problem details for programs and pages for people, whatever has gone wrong."""

import json
from datetime import timedelta

import httpx
import pytest
from sqlalchemy.exc import OperationalError

from tests.support.browsing import from_here, sign_in
from tests.support.factories import make_token, make_user
from tests.support.site import Site
from vocboard.app.accounts.models import Role
from vocboard.app.database import now
from vocboard.app.errors import LimitedError
from vocboard.app.pages import home
from vocboard.app.web.problem_details import details_of


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/v1/nothing", 404, "not_found"),
        ("GET", "/api/v1/challenges/nothing", 404, "not_found"),
        ("GET", "/api/v1/submissions/not-an-id", 404, "not_found"),
        ("GET", "/api/v1/submissions", 401, "not_signed_in"),
        ("DELETE", "/api/v1/challenges", 405, "method_not_allowed"),
        ("GET", "/api/v1/challenges?page=x", 422, "invalid_input"),
    ],
)
def test_programs_get_problem_details(shared_site: Site, method: str, path: str, status: int, code: str) -> None:
    with shared_site.client() as client:
        response = client.request(method, path)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    details = response.json()
    assert (details["status"], details["code"]) == (status, code)
    assert details["type"] == f"urn:vocboard:error:{code}"
    assert details["title"]
    assert details["detail"]
    assert "page" not in details["detail"] or "page=" in path


def test_all_methods_of_an_address_are_named_where_another_is_refused(shared_site: Site) -> None:
    with shared_site.client() as client:
        found = [client.put(path) for path in ("/api/v1/challenges/nothing", "/static/nothing.css")]
    assert [(response.status_code, response.headers["allow"]) for response in found] == [
        (405, "DELETE, GET, HEAD, PATCH"),
        (405, "GET, HEAD"),
    ]


def test_people_get_a_page_and_are_sent_to_sign_in(shared_site: Site) -> None:
    with shared_site.client() as client:
        missing = client.get("/nothing/here", headers={"Accept": "text/html"})
        assert missing.status_code == 404
        assert missing.headers["content-type"].startswith("text/html")
        private = client.get("/submissions?page=2")
        assert private.status_code == 303
        assert private.headers["location"] == "/sign-in?next=%2Fsubmissions%3Fpage%3D2"


def test_error_pages_know_who_is_signed_in(shared_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with shared_site.writing() as session:
        email = make_user(session).email
    with shared_site.client() as visitor, shared_site.client() as client:
        sign_in(client, email)

        def answers(browser: httpx.Client) -> dict[int, httpx.Response]:
            elsewhere = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
            found = [
                browser.get("/nothing/here"),
                browser.get("/sign-out"),
                browser.post("/sign-out", headers=elsewhere),
                browser.post("/sign-in", data={"email": "x" * 2**21}, headers=from_here(browser)),
            ]
            with monkeypatch.context() as patch:
                patch.setattr(home, "listed", lambda _found: 1 / 0)
                found.append(browser.get("/"))
            return {answer.status_code: answer for answer in found}

        signed_in, signed_out = answers(client), answers(visitor)
    assert set(signed_in) == set(signed_out) == {403, 404, 405, 413, 500}
    for status, answer in signed_in.items():
        assert 'action="/sign-out"' in answer.text, status
        assert 'action="/sign-out"' not in signed_out[status].text
    assert 'href="/sign-in?next=%2Fnothing%2Fhere"' in signed_out[404].text


def test_a_missing_token_is_distinguished_from_a_wrong_one(shared_site: Site) -> None:
    with shared_site.client() as client:
        missing = client.get("/api/v1/me")
        wrong = client.get("/api/v1/me", headers={"Authorization": "Bearer vocb_wrong"})
        other = client.get("/api/v1/challenges", headers={"Authorization": "Basic dXNlcjpwYXNz"})
    assert (missing.status_code, wrong.status_code, other.status_code) == (401, 401, 401)
    assert missing.headers["www-authenticate"].startswith("Bearer")
    assert (missing.json()["code"], wrong.json()["code"]) == ("not_signed_in", "invalid_token")


def test_a_body_that_is_not_json_is_malformed_input(shared_site: Site) -> None:
    with shared_site.writing() as session:
        token = make_token(session, make_user(session, role=Role.ORGANISER))
    with shared_site.client(token) as client:
        response = client.post("/api/v1/challenges", content=b"{", headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["code"]) == (400, "malformed_json")
    assert response.headers["content-type"] == "application/problem+json"


def test_half_of_a_surrogate_pair_is_quoted_as_a_question_mark(shared_site: Site) -> None:
    with shared_site.writing() as session:
        token = make_token(session, make_user(session, role=Role.ORGANISER))
    sent = {"slug": "small", "title": "Small", "edition": "VOC2007", "competitions": ["comp\ud800"]}
    with shared_site.client(token) as client:
        response = client.post(
            "/api/v1/challenges", content=json.dumps(sent), headers={"Content-Type": "application/json"}
        )
    assert response.status_code == 422
    assert "comp?" in response.json()["fields"]["competitions"]


def test_a_database_that_cannot_be_reached_is_said_to_be_so(shared_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OperationalError("SELECT secret", {}, Exception("connection refused"))

    monkeypatch.setattr(shared_site.database, "reading", fail)
    with shared_site.client() as client:
        response = client.get("/api/v1/challenges")
        readiness = client.get("/readyz")
        liveness = client.get("/healthz")
    assert response.status_code == 503
    assert int(response.headers["retry-after"]) > 0
    assert "SELECT" not in response.text
    assert (readiness.status_code, readiness.json()["database"]) == (503, "failing")
    assert liveness.status_code == 200


def test_a_ready_site_says_so(shared_site: Site) -> None:
    with shared_site.client() as client:
        parts = {"database": "ok", "archives": "ok", "disk": "ok", "mail": "ok"}
        none_runs = {"workers": "failing", "ground_truth": "unknown"}
        assert client.get("/readyz").json() == {"status": "degraded", **parts, **none_runs}


def test_waiting_times_are_whole_seconds_and_never_none() -> None:
    soon = details_of(LimitedError("no", allowed_at=now() + timedelta(seconds=1.5)))
    past = details_of(LimitedError("no", allowed_at=now() - timedelta(seconds=5)))
    assert soon.headers == {"Retry-After": "2"}
    assert past.headers == {"Retry-After": "1"}
    assert str(soon.members["allowed_at"]).endswith("Z")
