"""Registration, signing in, sessions and passwords."""

from datetime import timedelta

import argon2
import pytest
from sqlalchemy import func, select

from tests.support.factories import PASSWORD, make_token, make_user
from tests.support.signing_in import sign_in
from vocboard.app.accounts import administration, queries, service
from vocboard.app.accounts.models import Role, User, WebSession
from vocboard.app.accounts.passwords import hashed
from vocboard.app.database import Database, now
from vocboard.app.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    SignInError,
)
from vocboard.app.rate_limits import SIGN_IN_FROM_ADDRESS, Attempt

LIFETIME = timedelta(days=14)


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
    assert found is not None
    assert found[0].id == user.id


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


def test_a_person_ends_own_sessions_and_no_others(database: Database) -> None:
    register(database)
    ada, secret = sign_in(database, "ada@lab.example")
    with database.writing() as session:
        other = make_user(session)
        (found,) = service.sessions_of(session, ada)
    with pytest.raises(NotFoundError), database.writing() as session:
        service.revoke_session(session, user=other, session_id=found.id)
    with database.writing() as session:
        service.revoke_session(session, user=ada, session_id=found.id)
        assert service.user_of_session(session, secret) is None


def test_signing_out_ends_the_session(database: Database) -> None:
    register(database)
    _, secret = sign_in(database, "ada@lab.example")
    with database.writing() as session:
        found = service.user_of_session(session, secret)
        assert found is not None
        service.sign_out(session, web_session=found[1])
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
        assert found is not None
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


def test_a_disabled_person_is_signed_out_immediately(database: Database) -> None:
    register(database)
    _, secret = sign_in(database, "ada@lab.example")
    with database.writing() as session:
        administration.disable(session, user=administration.get_user(session, "Ada@lab.example"))
    with database.reading() as session:
        assert service.user_of_session(session, secret) is None
    with pytest.raises(SignInError):
        sign_in(database, "ada@lab.example")


def test_what_has_ended_with_an_account_stays_ended(database: Database) -> None:
    register(database)
    _, secret = sign_in(database, "ada@lab.example")
    with database.writing() as session:
        user = administration.get_user(session, "ada@lab.example")
        token = make_token(session, user)
        administration.disable(session, user=user)
    with database.writing() as session:
        administration.enable(session, user=administration.get_user(session, "ada@lab.example"))
    with database.reading() as session:
        assert service.user_of_session(session, secret) is None
        assert service.user_of_token(session, token) is None
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
