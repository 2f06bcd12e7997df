"""The account: tokens shown once, sessions ended, the password changed."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from tests.support.browsing import send_form, sign_in, signed_in
from tests.support.factories import PASSWORD, make_token, make_user
from tests.support.site import Site, serving
from vocboard.app.accounts import administration, password_changes, passwords
from vocboard.app.accounts.models import ApiToken, Role, User, WebSession
from vocboard.app.administering import people
from vocboard.app.database import now
from vocboard.app.settings import Settings

IDLE_AT_ONCE = {"session_idle_timeout": timedelta(microseconds=1)}
SECRET = re.compile(r"vocb_[\w-]{40,}")


def account(site: Site, **given: object) -> str:
    with site.writing() as session:
        return make_user(session, **given).email  # type: ignore[arg-type]


def test_a_token_is_shown_once_and_works(embedded_site: Site) -> None:
    email = account(embedded_site)
    with signed_in(embedded_site, email) as client:
        made = send_form(
            client, "/account", "/account/tokens", label="cluster", scopes="read", lifetime="30", password=PASSWORD
        )
        assert made.headers["location"] == "/account"
        [secret] = set(SECRET.findall(client.get("/account").text))
        assert not SECRET.search(client.get("/account").text)
        assert "cluster" in client.get("/account").text
        with embedded_site.client(secret) as program:
            assert program.get("/api/v1/me").json()["scopes"] == ["read"]
        [path] = re.findall(r"/account/tokens/[0-9a-f-]+/revoke", client.get("/account").text)
        assert send_form(client, "/account", path).status_code == 303
        with embedded_site.client(secret) as program:
            assert program.get("/api/v1/me").status_code == 401


def test_a_token_needs_the_password_again(embedded_site: Site) -> None:
    email = account(embedded_site)
    with signed_in(embedded_site, email) as client:
        for password in ("", "not this one"):
            answer = send_form(
                client, "/account", "/account/tokens", label="cluster", scopes="read", lifetime="30", password=password
            )
            assert answer.status_code == 422
            assert not SECRET.search(answer.text)
            assert "not this one" not in answer.text
        assert "You have no tokens." in client.get("/account").text


@pytest.mark.parametrize("what", ["a new password", "signed out everywhere"])
def test_what_ends_all_tokens_leaves_none_that_is_just_being_created(
    embedded_site: Site, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    email, matches = account(embedded_site), passwords.matches

    def ending(password: str, password_hash: str | None) -> bool:
        found = matches(password, password_hash)
        with embedded_site.writing() as session:
            user, kept = administration.get_user(session, email), session.scalars(select(WebSession)).one()
            if what == "a new password":
                password_changes.set_hash(session, user=user, password_hash=passwords.hashed("another"), keep=kept)
            else:
                administration.end_sessions(session, user=user)
        return found

    with signed_in(embedded_site, email) as client:
        monkeypatch.setattr(passwords, "matches", ending)
        send_form(
            client, "/account", "/account/tokens", label="cluster", scopes="read", lifetime="30", password=PASSWORD
        )
    with embedded_site.database.reading() as session:
        assert session.scalars(select(ApiToken)).all() == []


@pytest.mark.parametrize(("longest", "chosen"), [(10, "30"), (2, "2")])
def test_a_token_ends_when_the_server_says(sqlite_url: str, tmp_path: Path, longest: int, chosen: str) -> None:
    limited = Settings(data_directory=tmp_path, database_url=sqlite_url, token_lifetime=timedelta(days=longest))
    with serving(limited) as site, signed_in(site) as client:
        page = client.get("/account").text
        assert ('value="30"' in page, f'value="{min(longest, 7)}"' in page) == (False, True)
        made = send_form(
            client, "/account", "/account/tokens", label="cluster", scopes="read", lifetime=chosen, password=PASSWORD
        )
        assert made.status_code == 303
        with site.database.reading() as session:
            assert session.scalars(select(ApiToken.expires_at)).one() <= now() + timedelta(days=longest)


def test_guessing_the_present_password_is_limited(embedded_site: Site) -> None:
    email = account(embedded_site)
    with signed_in(embedded_site, email) as client:
        answers = [
            send_form(client, "/account", "/account/password", current_password="wrong", new_password="three ladders!")
            for _ in range(11)
        ]
    assert [answer.status_code for answer in answers] == [422] * 10 + [429]


def test_a_token_without_scope_or_end_is_refused_with_what_was_typed(embedded_site: Site) -> None:
    email = account(embedded_site)
    with signed_in(embedded_site, email) as client:
        answer = send_form(client, "/account", "/account/tokens", label="cluster", lifetime="99999", password=PASSWORD)
    assert answer.status_code == 422
    assert 'value="cluster"' in answer.text
    assert "Choose at least one scope." in answer.text
    assert "how long the token is valid" in answer.text
    assert not SECRET.search(answer.text)


def test_only_organisers_are_offered_tokens_that_organise(embedded_site: Site) -> None:
    for role, offered in ((Role.PARTICIPANT, False), (Role.ORGANISER, True)):
        email = account(embedded_site, role=role)
        with signed_in(embedded_site, email) as client:
            assert ('value="organise"' in client.get("/account").text) is offered


def test_another_browser_can_be_signed_out(embedded_site: Site) -> None:
    email = account(embedded_site)
    with embedded_site.client() as here, embedded_site.client() as there:
        sign_in(there, email)
        sign_in(here, email)
        [path] = re.findall(r"/account/sessions/[0-9a-f-]+/revoke", here.get("/account").text)
        assert send_form(here, "/account", path).status_code == 303
        assert there.get("/account").status_code == 303
        assert here.get("/account").status_code == 200


def test_a_browser_that_was_not_used_for_too_long_is_not_listed(embedded_site: Site) -> None:
    email = account(embedded_site, role=Role.ADMINISTRATOR)
    with embedded_site.client() as here, embedded_site.client() as there:
        sign_in(there, email)
        with embedded_site.writing() as session:
            session.execute(update(WebSession).values(last_used_at=now() - timedelta(days=4)))
            user_id = session.scalars(select(User.id).where(User.email == email)).one()
        assert there.get("/account").status_code == 303
        sign_in(here, email)
        assert not re.findall(r"/account/sessions/[0-9a-f-]+/revoke", here.get("/account").text)
        assert "1 browser," in here.get(f"/admin/people/{user_id}").text
    with embedded_site.database.reading() as session:
        far = people.details(session, user_id, embedded_site.settings.model_copy(update=IDLE_AT_ONCE))
    assert (far.sessions, far.last_used_at is not None) == (0, True)


def test_a_new_password_needs_the_present_one_and_ends_other_sessions_and_tokens(embedded_site: Site) -> None:
    with embedded_site.writing() as session:
        user = make_user(session)
        email, token, new = user.email, make_token(session, user), "another dozen of words"
    with embedded_site.client() as here, embedded_site.client() as there:
        sign_in(there, email)
        sign_in(here, email)
        assert "revokes all API tokens" in here.get("/account").text
        refused = send_form(here, "/account", "/account/password", current_password="wrong", new_password=new)
        assert refused.status_code == 422
        assert "This is not your current password." in refused.text
        changed = send_form(here, "/account", "/account/password", current_password=PASSWORD, new_password=new)
        assert changed.status_code == 303
        with embedded_site.client(token) as program:
            assert program.get("/api/v1/me").status_code == 401
        assert here.get("/account").status_code == 200
        assert there.get("/account").status_code == 303
        sign_in(there, email, new)


def test_a_name_can_be_changed(embedded_site: Site) -> None:
    email = account(embedded_site, name="Ada Byron")
    with signed_in(embedded_site, email) as client:
        wrong = send_form(client, "/account", "/account/profile", name=" ", affiliation="Lab\u202e")
        assert wrong.status_code == 422
        assert "Required." in wrong.text
        assert client.get("/api/v1/me").json()["name"] == "Ada Byron"
        done = send_form(client, "/account", "/account/profile", name="Ada Lovelace", affiliation="")
        assert done.headers["location"] == "/account?done=profile"
        assert {"name": "Ada Lovelace", "affiliation": ""}.items() <= client.get("/api/v1/me").json().items()
