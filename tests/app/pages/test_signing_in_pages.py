"""Registering, signing in and out by the pages' forms."""

import pytest

from app.settings import Settings
from tests.support.browsing import send_form, sign_in
from tests.support.factories import make_user
from tests.support.site import Site, serving

NEWCOMER = {"email": "ada@lab.example", "name": "Ada", "password": "a dozen words in a row"}


def test_a_newcomer_registers_and_signs_in(embedded_site: Site) -> None:
    with embedded_site.client() as client:
        registered = send_form(client, "/register", **NEWCOMER)
        assert (registered.status_code, registered.headers["location"]) == (303, "/sign-in?done=registered")
        sign_in(client, NEWCOMER["email"], NEWCOMER["password"])
        assert "ada@lab.example" in client.get("/account").text


def test_registering_a_known_address_looks_the_same(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        make_user(session, email=NEWCOMER["email"])
    with embedded_site.client() as client:
        known = send_form(client, "/register", **NEWCOMER)
        unknown = send_form(client, "/register", **{**NEWCOMER, "email": "other@lab.example"})
    assert known.status_code == unknown.status_code
    assert known.headers["location"] == unknown.headers["location"]


def test_a_wrong_form_keeps_what_was_typed_but_never_a_password(embedded_site: Site) -> None:
    with embedded_site.client() as client:
        answer = send_form(client, "/register", email="nonsense", name="Ada <b>", password="short")
    assert answer.status_code == 422
    assert 'value="nonsense"' in answer.text
    assert 'value="Ada &lt;b&gt;"' in answer.text
    assert 'id="email-wrong"' in answer.text
    assert 'id="password-wrong"' in answer.text
    assert "short" not in answer.text


def test_a_wrong_password_is_told_as_one_thing(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        email = make_user(session).email
    with embedded_site.client() as client:
        wrong = send_form(client, "/sign-in", email=email, password="not this one")
        nobody = send_form(client, "/sign-in", email="nobody@lab.example", password="not this one")
    assert wrong.status_code == nobody.status_code == 401
    assert f'value="{email}"' in wrong.text
    assert "The e-mail address or the password is wrong." in wrong.text
    assert "The e-mail address or the password is wrong." in nobody.text


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example", "/\\evil.example", "evil"])
def test_nobody_is_sent_elsewhere_after_signing_in(embedded_site: Site, wanted: str) -> None:
    with embedded_site.writing() as session:
        email = make_user(session).email
    with embedded_site.client() as client:
        answer = send_form(client, "/sign-in", email=email, password="correct horse battery", next=wanted)
    assert answer.headers["location"] == "/"


def test_signing_in_leads_back_to_the_page_that_asked_for_it(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        email = make_user(session).email
    with embedded_site.client() as client:
        asked = client.get("/submissions?page=2")
        assert asked.headers["location"] == "/sign-in?next=%2Fsubmissions%3Fpage%3D2"
        shown = client.get(asked.headers["location"])
        assert 'name="next" value="/submissions?page=2"' in shown.text
        answer = send_form(
            client, "/sign-in", email=email, password="correct horse battery", next="/submissions?page=2"
        )
    assert answer.headers["location"] == "/submissions?page=2"


def test_signed_out_is_signed_out(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        email = make_user(session).email
    with embedded_site.client() as client:
        sign_in(client, email)
        cookies = dict(client.cookies)
        assert send_form(client, "/account", "/sign-out").status_code == 303
        client.cookies.update(cookies)  # a cookie that was kept is worth nothing
        assert client.get("/account").status_code == 303


def test_a_closed_registration_offers_no_form(sqlite_url: str) -> None:
    with serving(Settings(database_url=sqlite_url, registration_open=False)) as site, site.client() as client:
        page = client.get("/register")
    assert page.status_code == 200
    assert "Ask them for one" in page.text
    assert 'name="password"' not in page.text
