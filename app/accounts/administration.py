"""What administrators and the command line do to accounts. Sign-in limits and equal answers do not apply here."""

import secrets
from collections.abc import Sequence

from sqlalchemy import delete, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.accounts import queries
from app.accounts.models import ApiToken, Role, User, WebSession
from app.accounts.service import new_user, normalised_email, set_password
from app.audit import service as audit
from app.database import now
from app.errors import ConflictError, NotFoundError

GENERATED_PASSWORD_BYTES = 15  # 120 bits, 20 characters


def create_user(
    session: Session, *, email: str, name: str, affiliation: str, password: str, role: Role, actor: User | None = None
) -> User:
    """Make an account of any role.

    Raises:
        InvalidInputError: on `email`, `name`, `affiliation`, `password`.
        ConflictError: the e-mail address has an account.
    """
    user = new_user(email=email, name=name, affiliation=affiliation, password=password, role=role)
    try:
        with session.begin_nested():
            session.add(user)
            session.flush()
    except IntegrityError:
        raise ConflictError(f"{user.email} has an account already.") from None
    audit.record(session, actor=actor, action="user.create", subject=user, details={"role": role.value})
    return user


def get_user(session: Session, email: str) -> User:
    """Return the person with this address.

    Raises:
        NotFoundError: there is none.
    """
    normalised = normalised_email(email)
    user = queries.user_by_email(session, normalised) if normalised else None
    if user is None:
        raise NotFoundError(f"Nobody here has the e-mail address {email!r}.")
    return user


def list_users(session: Session) -> Sequence[User]:
    """Return everyone, by e-mail address."""
    return queries.users(session)


def set_role(session: Session, *, user: User, role: Role, actor: User | None = None) -> None:
    """Give a person (of this transaction) another role."""
    before, user.role = user.role, role
    details = {"from": before.value, "to": role.value}
    audit.record(session, actor=actor, action="user.set_role", subject=user, details=details)


def disable(session: Session, *, user: User, actor: User | None = None) -> None:
    """Shut a person (of this transaction) out. Sessions and tokens end for good; event streams end with them."""
    user.disabled_at = now()
    session.execute(delete(WebSession).where(WebSession.user_id == user.id))
    _revoke_tokens(session, user)
    audit.record(session, actor=actor, action="user.disable", subject=user)


def enable(session: Session, *, user: User, actor: User | None = None) -> None:
    """Let a disabled person (of this transaction) sign in again; ended sessions and tokens stay ended."""
    user.disabled_at = None
    audit.record(session, actor=actor, action="user.enable", subject=user)


def reset_password(session: Session, *, user: User, actor: User | None = None) -> str:
    """Give a person (of this transaction) a random password, and end all sessions and tokens.

    Returns:
        The password, to be handed to the person, who changes it on the account page.
    """
    password = secrets.token_urlsafe(GENERATED_PASSWORD_BYTES)
    set_password(session, user=user, password=password, field="password", keep=None)
    _revoke_tokens(session, user)
    audit.record(session, actor=actor, action="user.reset_password", subject=user)
    return password


def _revoke_tokens(session: Session, user: User) -> None:
    session.execute(
        update(ApiToken).where(ApiToken.user_id == user.id, ApiToken.revoked_at.is_(None)).values(revoked_at=now())
    )
