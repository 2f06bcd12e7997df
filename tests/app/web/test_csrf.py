"""Nothing changes unless our own page asked for it."""

import httpx
import pytest

from tests.support.browsing import from_here, sign_in, signed_in, token_of
from tests.support.factories import PASSWORD, make_challenge, make_user
from tests.support.site import Site
from vocboard.app.accounts.models import Role, User


@pytest.fixture
def person(embedded_site: Site) -> User:
    with embedded_site.writing() as session:
        return make_user(session)


def is_signed_in(client: httpx.Client) -> bool:
    return client.get("/api/v1/me").status_code == 200


def test_a_form_without_its_token_is_refused(embedded_site: Site, person: User) -> None:
    with signed_in(embedded_site, person.email) as client:
        for token in ({}, {"csrf_token": ""}, {"csrf_token": "0" * 64}, {"csrf_token": "ünicode"}):
            response = client.post("/sign-out", data=token, headers=from_here(client))
            assert response.status_code == 403
        assert is_signed_in(client)
        assert "vocboard_session" in client.cookies
        token = {"csrf_token": token_of(client.get("/account"))}
        assert client.post("/sign-out", data=token, headers=from_here(client)).status_code == 303
        assert "vocboard_session" not in client.cookies


def test_another_sessions_token_is_refused(embedded_site: Site, person: User) -> None:
    with embedded_site.writing() as session:
        attacker = make_user(session)
    with embedded_site.client() as victim, embedded_site.client() as other:
        sign_in(victim, person.email)
        sign_in(other, attacker.email)
        stolen = token_of(other.get("/"))
        assert victim.post("/sign-out", data={"csrf_token": stolen}, headers=from_here(victim)).status_code == 403
        assert is_signed_in(victim)


def test_signing_in_is_protected_too(embedded_site: Site, person: User) -> None:
    with embedded_site.client() as client:
        form = {"email": person.email, "password": PASSWORD}
        assert client.post("/sign-in", data=form, headers=from_here(client)).status_code == 403
        assert not is_signed_in(client)


def test_the_token_changes_with_signing_in(embedded_site: Site, person: User) -> None:
    with embedded_site.client() as client:
        before = token_of(client.get("/sign-in"))
        sign_in(client, person.email)
        assert token_of(client.get("/")) != before


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
    ],
)
def test_other_sites_are_refused_even_with_the_token(
    embedded_site: Site, person: User, headers: dict[str, str]
) -> None:
    with signed_in(embedded_site, person.email) as client:
        token = token_of(client.get("/"))
        assert client.post("/sign-out", data={"csrf_token": token}, headers=headers).status_code == 403
        assert is_signed_in(client)


def test_a_browsers_session_changes_nothing_over_the_api_without_the_token(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        challenge = make_challenge(session, title="Before")
        organiser = make_user(session, role=Role.ADMINISTRATOR)
    path, change = f"/api/v1/challenges/{challenge.slug}", {"title": "After"}
    with signed_in(embedded_site, organiser.email) as client:
        assert client.patch(path, json=change).status_code == 403
        assert client.get(path).json()["title"] == "Before"
        token = {"X-CSRF-Token": token_of(client.get("/"))}
        assert client.patch(path, json=change, headers=token).status_code == 200
        assert client.get(path).json()["title"] == "After"
