"""Accounts, sessions, passwords and API tokens."""

import contextlib
from datetime import timedelta

import argon2
import pytest
from sqlalchemy import func, select

from tests.support.factories import PASSWORD, make_organiser, make_token, make_user
from tests.support.signing_in import sign_in
from vocboard.app.accounts import administration, passwords, queries, service
from vocboard.app.accounts.models import ApiToken, Role, Scope, User, WebSession
from vocboard.app.accounts.passwords import hashed
from vocboard.app.audit.models import AuditEvent
from vocboard.app.database import Database, now
from vocboard.app.errors import (
    ConflictError,
    InvalidInputError,
    SignInError,
)
from vocboard.app.rate_limits import SIGN_IN_FROM_ADDRESS, Attempt


def register(database: Database, **given: str) -> None:
    """Register and confirm."""
    with database.writing() as session:
        make_user(session, **{"email": "ada@lab.example", "name": "Ada", **given})


def test_one_who_registers_can_sign_in_with_any_spelling_of_the_address(database: Database) -> None:
    register(database, email=" Ada@Lab.Example ")
    user, secret = sign_in(database, "ADA@lab.example")
    assert (user.email, user.role) == ("ada@lab.example", Role.PARTICIPANT)
    with database.reading() as session:
        found = service.user_of_session(session, secret)
    assert found[0].id == user.id


def test_the_longest_password_that_can_be_set_is_right_and_a_longer_one_never() -> None:
    password = "x" * passwords.MAX_PASSWORD_LENGTH
    assert passwords.matches(password, hashed(password))
    assert not passwords.matches(f"{password}x", hashed(f"{password}x"))


def test_control_characters_are_refused_where_the_database_would_fail(database: Database) -> None:
    with pytest.raises(InvalidInputError):
        register(database, name="A\x00da")
    with pytest.raises(SignInError):
        sign_in(database, "a\x00da@lab.example")


def test_one_ipv6_network_counts_as_one_address(database: Database) -> None:
    with pytest.raises(SignInError):
        sign_in(database, "a@lab.example", address="2001:db8::1")
    with pytest.raises(SignInError):
        sign_in(database, "b@lab.example", address="2001:db8::2")
    with database.reading() as session:
        query = select(func.count()).where(Attempt.action == SIGN_IN_FROM_ADDRESS.action).group_by(Attempt.subject)
        assert session.scalars(query).all() == [2]


def test_an_attempt_is_forgotten_when_no_limit_counts_it(database: Database) -> None:
    with database.writing() as session:
        session.add(Attempt(action="sign_in_of_account", subject="old", created_at=now() - timedelta(days=2)))
    with pytest.raises(SignInError):
        sign_in(database, "a@lab.example")
    with database.reading() as session:
        assert "old" not in session.scalars(select(Attempt.subject)).all()


def test_a_session_ends_by_itself(database: Database) -> None:
    register(database)
    _, secret = sign_in(database, "ada@lab.example")
    with database.writing() as session:
        session.scalars(select(WebSession)).one().expires_at = now()
    with database.reading() as session:
        assert service.user_of_session(session, secret) is None


def test_the_cookie_is_not_in_the_database(database: Database) -> None:
    register(database)
    _, secret = sign_in(database, "ada@lab.example")
    assert len(secret) >= 43  # 256 bits
    with database.reading() as session:
        assert secret.encode() not in session.scalars(select(WebSession.token_hash)).one()


def test_last_use_is_recorded_now_and_then(database: Database) -> None:
    register(database)
    _, secret = sign_in(database, "ada@lab.example")
    with database.writing() as session:
        found = service.user_of_session(session, secret)
        assert not service.is_use_worth_recording(found[1])
        found[1].last_used_at = now() - timedelta(hours=1)
        assert service.is_use_worth_recording(found[1])
        service.record_use(session, found[1])
        session.refresh(found[1])
        assert not service.is_use_worth_recording(found[1])


def test_an_outdated_hash_is_renewed_at_sign_in(database: Database) -> None:
    register(database)
    old = argon2.PasswordHasher(time_cost=1, memory_cost=16, parallelism=1).hash(PASSWORD)
    with database.writing() as session:
        session.scalars(select(User)).one().password_hash = old
    sign_in(database, "ada@lab.example")
    with database.reading() as session:
        assert session.scalars(select(User.password_hash)).one() != old


def test_what_ends_with_an_account_ends_immediately_and_stays_ended(database: Database) -> None:
    register(database)
    _, secret = sign_in(database, "ada@lab.example")
    with database.writing() as session:
        token = make_token(session, administration.get_user(session, "Ada@lab.example"))
    for change in (administration.disable, administration.enable):
        with database.writing() as session:
            change(session, user=administration.get_user(session, "ada@lab.example"))
        with database.reading() as session:
            assert service.user_of_session(session, secret) is None
            assert service.user_of_token(session, token) is None
        may_sign_in = change is administration.enable
        with contextlib.nullcontext() if may_sign_in else pytest.raises(SignInError):
            sign_in(database, "ada@lab.example")


def test_an_administrators_reset_replaces_the_password_and_ends_sessions(database: Database) -> None:
    register(database)
    _, secret = sign_in(database, "ada@lab.example")
    with database.writing() as session:
        user = administration.get_user(session, "ada@lab.example")
        administration.reset_password(session, user=user, password_hash=hashed("a new password"))
    with database.reading() as session:
        assert service.user_of_session(session, secret) is None
    sign_in(database, "ada@lab.example", "a new password")


def test_creating_an_account_for_a_known_address_is_a_conflict(database: Database) -> None:
    with database.writing() as session:
        make_user(session, email="ada@lab.example")
        with pytest.raises(ConflictError):
            make_user(session, email="ADA@lab.example")
        assert len(queries.users(session)) == 1


YEAR = timedelta(days=365)


def test_a_token_is_its_owners_with_its_scopes_and_stored_hashed(database: Database) -> None:
    with database.writing() as session:
        user = make_user(session)
        token, secret = service.create_token(session, user=user, label="laptop", scopes=[Scope.SUBMIT], lifetime=YEAR)
    assert secret.startswith("vocb_")
    assert len(secret) >= 5 + 43
    with database.reading() as session:
        found = service.user_of_token(session, secret)
        assert (found[0].id, found[1].granted) == (user.id, frozenset({Scope.SUBMIT}))
        assert secret.encode() not in session.scalars(select(ApiToken.token_hash)).one()
    assert token.label == "laptop"


def test_an_unknown_expired_or_revoked_token_is_rejected(database: Database) -> None:
    with database.writing() as session:
        user = make_user(session)
        expiring, expired = service.create_token(session, user=user, label="a", scopes=[Scope.READ], lifetime=YEAR)
        expiring.expires_at = now()
        revoked_token, revoked = service.create_token(session, user=user, label="b", scopes=[Scope.READ], lifetime=YEAR)
        service.revoke_token(session, user=user, token_id=revoked_token.id)
    with database.reading() as session:
        for secret in (expired, revoked, "vocb_unknown", "", "\udcff"):
            assert service.user_of_token(session, secret) is None


def test_a_participant_gets_no_token_to_organise(database: Database) -> None:
    with database.writing() as session:
        with pytest.raises(InvalidInputError) as caught:
            service.create_token(
                session, user=make_user(session), label="", scopes=[Scope.ORGANISE], lifetime=timedelta()
            )
        assert set(caught.value.fields) == {"label", "scopes", "lifetime"}
        service.create_token(session, user=make_organiser(session), label="a", scopes=[Scope.ORGANISE], lifetime=YEAR)


def test_making_and_revoking_tokens_and_roles_is_in_the_audit_log_without_secrets(database: Database) -> None:
    with database.writing() as session:
        user = make_user(session)
        token, secret = service.create_token(session, user=user, label="a", scopes=[Scope.READ], lifetime=YEAR)
        service.revoke_token(session, user=user, token_id=token.id)
        administration.set_role(session, user=user, role=Role.ORGANISER)
    with database.reading() as session:
        events = session.scalars(select(AuditEvent)).all()
    assert sorted(event.action for event in events) == [
        "token.create",
        "token.revoke",
        "user.create",
        "user.set_role",
    ]
    assert {event.object_id for event in events} == {user.id, token.id}
    assert all(secret not in str(event.details) for event in events)
