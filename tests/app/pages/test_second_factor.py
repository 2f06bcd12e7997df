"""The second factor: nothing that signs in goes past it, and no code is accepted twice."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import cbor2
import httpx
import pyotp
import pytest

from tests.app.pages.test_signing_in_pages import path_of, the_mail
from tests.support.browsing import send_form, sign_in, signed_in
from tests.support.clock import Clock
from tests.support.factories import PASSWORD, make_challenge, make_organiser, make_token, make_user
from tests.support.mail import link_in
from tests.support.site import Site, serving
from vocboard.app.accounts import administration, second_factor, security_keys
from vocboard.app.accounts.models import Role, Scope, SecondFactor, SecurityKey
from vocboard.app.accounts.security_keys import KeyAnswer, RefusedKeyError
from vocboard.app.database import Database, now
from vocboard.app.errors import InvalidInputError
from vocboard.app.settings import SecondFactorPolicy, Settings

PAGE = "/account/second-factor"
STEP = timedelta(seconds=second_factor.STEP_SECONDS)
RECOVERY_CODE = re.compile(r"\b(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}\b")


@pytest.fixture
def demanding_site(sqlite_url: str, tmp_path: Path) -> Iterator[Site]:
    """Give a site whose organisers need a second factor."""
    policy = SecondFactorPolicy.ORGANISERS
    with serving(Settings(data_directory=tmp_path / "data", database_url=sqlite_url, second_factor=policy)) as site:
        yield site


def set_up(client: httpx.Client) -> tuple[pyotp.TOTP, list[str]]:
    """Set a second factor up in a browser that has signed in; return the app and the recovery codes."""
    assert send_form(client, PAGE, PAGE, password="not this one").status_code == 422
    assert send_form(client, PAGE, PAGE, password=PASSWORD).status_code == 303
    page = client.get(PAGE).text
    [key] = re.findall(r'id="app-key">([A-Z2-7 ]+)<', page)
    app = pyotp.TOTP(key.replace(" ", ""))
    assert send_form(client, PAGE, f"{PAGE}/confirm", code="000000").status_code == 422
    assert send_form(client, PAGE, f"{PAGE}/confirm", code=app.at(now())).headers["location"] == PAGE
    codes = RECOVERY_CODE.findall(client.get(PAGE).text)
    assert len(codes) == second_factor.RECOVERY_CODES
    assert not RECOVERY_CODE.search(client.get(PAGE).text), "they are shown once"
    return app, codes


def send_password(client: httpx.Client, email: str, password: str = PASSWORD) -> None:
    """Send the password, which leads to the form for a code, and not into the account."""
    answer = send_form(client, "/sign-in", email=email, password=password, next="/submissions")
    assert answer.headers["location"] == "/sign-in/code?next=%2Fsubmissions"
    assert client.get("/account").status_code == 303


def send_code(client: httpx.Client, code: str) -> httpx.Response:
    return send_form(client, "/sign-in/code", code=code, next="/submissions")


def test_signing_in_asks_for_a_code_that_is_accepted_once(embedded_site: Site, clock: Clock) -> None:
    with signed_in(embedded_site) as client:
        email = client.get("/api/v1/me").json()["email"]
        app, _ = set_up(client)
        used = app.at(now())
        with embedded_site.client() as other:
            assert other.get("/sign-in/code").headers["location"].startswith("/sign-in?")
            send_password(other, email)
            assert send_code(other, used).status_code == 422
            assert send_code(other, app.at(now() + 2 * STEP)).status_code == 422
            clock.advance(STEP)
            late = app.at(now())
            clock.advance(STEP)
            assert send_code(other, late).headers["location"] == "/submissions"
            assert other.get("/account").status_code == 200
        with embedded_site.client() as third:
            send_password(third, email)
            assert send_code(third, late).status_code == 422
            clock.advance(timedelta(minutes=20))
            assert third.get("/sign-in/code").status_code == 303, "the password was sent too long ago"


def test_a_recovery_code_signs_in_once_and_new_ones_replace_the_others(embedded_site: Site) -> None:
    with signed_in(embedded_site) as client:
        email = client.get("/api/v1/me").json()["email"]
        _, codes = set_up(client)
        for status in (303, 422):
            with embedded_site.client() as other:
                send_password(other, email)
                assert send_code(other, codes[0].lower()).status_code == status
        assert "9 recovery codes" in client.get(PAGE).text
        assert send_form(client, PAGE, f"{PAGE}/recovery-codes", password="not this one").status_code == 422
        send_form(client, PAGE, f"{PAGE}/recovery-codes", password=PASSWORD)
        renewed = RECOVERY_CODE.findall(client.get(PAGE).text)
    for code, status in ((codes[1], 422), (renewed[1], 303)):
        with embedded_site.client() as other:
            send_password(other, email)
            assert send_code(other, code).status_code == status


def test_neither_a_token_nor_a_password_reset_bypasses_the_second_factor(embedded_site: Site, clock: Clock) -> None:
    with embedded_site.writing() as session:
        user = make_user(session)
        email, earlier = user.email, make_token(session, user)
    with embedded_site.client() as elsewhere, embedded_site.client() as asking, signed_in(embedded_site, email) as here:
        sign_in(elsewhere, email)
        send_form(asking, "/forgotten-password", email=email)
        early_mail = the_mail(embedded_site, email, "reset-password")
        app, _ = set_up(here)
        # What was obtained with the password alone, before, has ended.
        assert elsewhere.get("/account").status_code == 303
        assert asking.get(path_of(link_in(early_mail))).status_code == 404
        with embedded_site.client(earlier) as program:
            assert program.get("/api/v1/me").status_code == 401
        # A new password is not a session; nor is a browser that has only sent the password one.
        send_form(asking, "/forgotten-password", email=email)
        link = path_of(link_in(the_mail(embedded_site, email, "reset-password", earlier=early_mail)))
        new = "another dozen of words"
        reset = send_form(asking, link, "/reset-password", token=link.partition("token=")[2], new_password=new)
        assert reset.headers["location"] == "/sign-in?done=reset"
        assert here.get("/account").status_code == 303
        send_password(asking, email, new)
        for path in ("/account/tokens", f"{PAGE}/remove", "/account/email", "/account/password"):
            answer = send_form(asking, "/sign-in/code", path, password=new, removal_password=new, label="a")
            assert answer.headers["location"].startswith("/sign-in"), path
        assert asking.get("/api/v1/me").status_code == 401
        clock.advance(STEP)
        assert send_code(asking, app.at(now())).status_code == 303
        made = send_form(asking, "/account", "/account/tokens", label="a", scopes="read", lifetime="30", password=new)
        assert made.headers["location"] == "/account"


def test_guessing_codes_is_limited_for_the_account_and_not_by_the_browser(embedded_site: Site, clock: Clock) -> None:
    with signed_in(embedded_site) as client:
        email = client.get("/api/v1/me").json()["email"]
        app, _ = set_up(client)  # with one wrong code
    clock.advance(STEP)
    statuses = []
    for _ in range(5):
        with embedded_site.client() as other:
            send_password(other, email)
            statuses.append(send_code(other, "000000").status_code)
    assert statuses == [422] * 4 + [429]
    with embedded_site.client() as owner:
        send_password(owner, email)
        assert send_code(owner, app.at(now())).status_code == 429
        clock.advance(timedelta(minutes=15))
        send_password(owner, email)
        assert send_code(owner, app.at(now())).status_code == 303


def test_a_new_password_ends_a_sign_in_that_waits_for_its_code(embedded_site: Site, clock: Clock) -> None:
    with signed_in(embedded_site) as client:
        email = client.get("/api/v1/me").json()["email"]
        app, _ = set_up(client)
        with embedded_site.client() as other:
            send_password(other, email)
            new = "another dozen of words"
            changed = send_form(client, "/account", "/account/password", current_password=PASSWORD, new_password=new)
            assert changed.status_code == 303
            clock.advance(STEP)
            assert send_code(other, app.at(now())).status_code == 401


def test_it_is_removed_with_the_password_or_by_an_operator_and_the_person_is_told(embedded_site: Site) -> None:
    with signed_in(embedded_site) as client:
        email = client.get("/api/v1/me").json()["email"]
        set_up(client)
        assert send_form(client, PAGE, f"{PAGE}/remove", removal_password="not this one").status_code == 422
        removed = send_form(client, PAGE, f"{PAGE}/remove", removal_password=PASSWORD)
        assert removed.headers["location"] == "/account?done=second-factor-removed"
        assert "no longer asks for a code" in the_mail(embedded_site, email)
        set_up(client)
        with embedded_site.writing() as session:
            second_factor.remove(session, user=administration.get_user(session, email), site="https://voc.example")
    with embedded_site.client() as other:
        sign_in(other, email)


def test_the_key_is_encrypted_and_a_set_up_that_was_not_finished_is_forgotten(
    embedded_site: Site, clock: Clock
) -> None:
    with signed_in(embedded_site) as client:
        send_form(client, PAGE, PAGE, password=PASSWORD)
        [key] = re.findall(r'id="app-key">([A-Z2-7 ]+)<', client.get(PAGE).text)
        with embedded_site.writing() as session:
            [found] = session.query(SecondFactor).all()
            assert key.replace(" ", "").encode() not in found.sealed_key
            assert second_factor.app_key(found, server_key="another secret") is None
        clock.advance(timedelta(hours=1))
        assert key not in client.get(PAGE).text
        code = pyotp.TOTP(key.replace(" ", "")).at(now())
        assert send_form(client, PAGE, f"{PAGE}/confirm", code=code).status_code == 409


@pytest.mark.parametrize("public_key", [b"\xa0", b"\x01", None])  # in CBOR: of no kind, no key; None: no answer at all
def test_an_answer_that_no_key_gives_is_refused(database: Database, public_key: bytes | None) -> None:
    def encoded(content: bytes) -> str:
        return base64.urlsafe_b64encode(content).decode().rstrip("=")

    settings = Settings(secret_key="of the server", public_url="https://voc.example")  # type: ignore[arg-type]
    with database.writing() as session:
        user = make_user(session)
        asked = security_keys.ask_for_new(session, user=user, settings=settings)
        answer = "[" * 100_000
        if public_key is not None:
            said = {"type": "webauthn.create", "challenge": json.loads(asked.options)["challenge"]}
            about = hashlib.sha256(b"voc.example").digest() + b"\x41" + bytes(20) + b"\x00\x04abcd" + public_key
            response = {
                "clientDataJSON": encoded(json.dumps(said | {"origin": settings.public_url}).encode()),
                "attestationObject": encoded(cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": about})),
            }
            answer = json.dumps({"id": "YWJjZA", "rawId": "YWJjZA", "type": "public-key", "response": response})
        given = KeyAnswer(answer, asked.challenge)
        with pytest.raises(InvalidInputError, match="not accepted"):
            security_keys.add(session, user=user, answer=given, label="Mine", settings=settings)
        session.add(SecurityKey(user_id=user.id, label="", credential_id=b"a", public_key=b"b", sign_count=0))
        signing_in = security_keys.ask(session, user=user, settings=settings)
        assert signing_in is not None
        with pytest.raises(RefusedKeyError):
            security_keys.check(session, user=user, answer=KeyAnswer(answer, signing_in.challenge), settings=settings)


def test_organisers_are_led_to_it_before_they_organise_if_operators_require_it(demanding_site: Site) -> None:
    with demanding_site.writing() as session:
        organiser = make_organiser(session)
        make_challenge(session, organiser=organiser, slug="voc")
        email, secret = organiser.email, make_token(session, organiser, Scope.READ, Scope.ORGANISE)
    with demanding_site.client(secret) as program, signed_in(demanding_site, email) as client:
        for path in ("/organise", "/organise/new", "/organise/voc"):
            assert client.get(path).headers["location"] == PAGE
        assert "organisers need a second factor" in client.get("/account").text
        assert client.patch("/api/v1/challenges/voc", json={"title": "B"}).status_code == 403
        refused = program.patch("/api/v1/challenges/voc", json={"title": "B"})
        assert (refused.status_code, refused.json()["code"]) == (403, "second_factor_required")
        assert program.get("/api/v1/me").json()["scopes"] == ["read"]
        set_up(client)
        assert client.get("/organise/voc").status_code == 200
    with signed_in(demanding_site, role=Role.PARTICIPANT) as participant:
        assert "need a second factor" not in participant.get("/account").text
