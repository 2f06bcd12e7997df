"""API tokens."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from tests.support.factories import make_organiser, make_token, make_user
from vocboard.app.accounts import administration, service
from vocboard.app.accounts.models import ApiToken, Role, Scope
from vocboard.app.audit.models import AuditEvent
from vocboard.app.database import Database, now
from vocboard.app.errors import InvalidInputError, NotFoundError

YEAR = timedelta(days=365)


def test_a_token_is_its_owners_with_its_scopes_and_stored_hashed(database: Database) -> None:
    with database.writing() as session:
        user = make_user(session)
        token, secret = service.create_token(session, user=user, label="laptop", scopes=[Scope.SUBMIT], lifetime=YEAR)
    assert secret.startswith("vocb_")
    assert len(secret) >= 5 + 43
    with database.reading() as session:
        found = service.user_of_token(session, secret)
        assert found is not None
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


def test_a_person_revokes_own_tokens_and_no_others(database: Database) -> None:
    with database.writing() as session:
        owner, other = make_user(session), make_user(session)
        token, _ = service.create_token(session, user=owner, label="a", scopes=[Scope.READ], lifetime=YEAR)
        with pytest.raises(NotFoundError):
            service.revoke_token(session, user=other, token_id=token.id)
        assert service.tokens_of(session, owner) == [token]
        assert service.tokens_of(session, other) == []


def test_a_participant_gets_no_token_to_organise(database: Database) -> None:
    with database.writing() as session:
        with pytest.raises(InvalidInputError) as caught:
            service.create_token(
                session, user=make_user(session), label="", scopes=[Scope.ORGANISE], lifetime=timedelta()
            )
        assert set(caught.value.fields) == {"label", "scopes", "lifetime"}
        service.create_token(session, user=make_organiser(session), label="a", scopes=[Scope.ORGANISE], lifetime=YEAR)


def test_disabling_a_person_revokes_the_tokens_permanently(database: Database) -> None:
    with database.writing() as session:
        user = make_user(session)
        secret = make_token(session, user)
        administration.disable(session, user=user)
        assert service.user_of_token(session, secret) is None
        administration.enable(session, user=user)
        session.expire_all()
        assert service.user_of_token(session, secret) is None


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
