"""Browser sessions, and checks of the current password.

Users passed to these functions may come from another transaction: only their ids are used. See also
`app.accounts.signing_in`, `registration`, `tokens` and `administration`.
"""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import NoReturn

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from vocboard.app import rate_limits
from vocboard.app.accounts import queries
from vocboard.app.accounts.models import ApiToken, User, WebSession
from vocboard.app.accounts.passwords import NO_PASSWORD
from vocboard.app.accounts.people import checked_names
from vocboard.app.accounts.secret_tokens import digest, new_secret
from vocboard.app.accounts.tokens import acting_with, create_token, revoke_token, tokens_of, user_of_token
from vocboard.app.audit import service as audit
from vocboard.app.database import now
from vocboard.app.errors import NotFoundError, NotSignedInError, WrongPasswordError
from vocboard.app.forms import FieldChecks, cleaned

__all__ = [
    "acting_with",
    "change_profile",
    "create_token",
    "is_use_worth_recording",
    "password_hash_of",
    "record_use",
    "refuse_password",
    "revoke_session",
    "revoke_token",
    "sessions_of",
    "sign_out",
    "start_session",
    "still_valid",
    "tokens_of",
    "user_of_session",
    "user_of_token",
]

LAST_USE_PRECISION = timedelta(minutes=5)  # so that most requests do not write
MAX_BROWSER_NAME_LENGTH = 200
MAX_SESSIONS = 20  # of one person


def start_session(session: Session, *, user: User, browser: str, lifetime: timedelta) -> str:
    """Start a browser session for a user of this transaction; beyond `MAX_SESSIONS`, the least recently used end.

    Args:
        browser: the user agent, for the user's list of sessions.
        lifetime: `Settings.session_lifetime`.

    Returns:
        The secret for the cookie.
    """
    instant = now()
    session.execute(delete(WebSession).where(WebSession.user_id == user.id, WebSession.expires_at <= instant))
    for surplus in queries.sessions_of(session, user.id)[MAX_SESSIONS - 1 :]:
        session.delete(surplus)
    secret = new_secret()
    session.add(
        WebSession(
            user_id=user.id,
            token_hash=digest(secret),
            expires_at=instant + lifetime,
            last_used_at=instant,
            browser=cleaned(browser)[:MAX_BROWSER_NAME_LENGTH],
        )
    )
    session.flush()
    return secret


def user_of_session(
    session: Session, secret: str, *, idle_timeout: timedelta | None = None
) -> tuple[User, WebSession] | None:
    """Return the user of a session cookie; None if it is unknown, expired or revoked, or the user is disabled.

    Args:
        idle_timeout: sessions that were idle for this long have ended; None for no limit.
    """
    found = queries.session_by_hash(session, digest(secret), idle_timeout=idle_timeout)
    return (found.user, found) if found else None


def still_valid(session: Session, used: WebSession | ApiToken) -> User | None:
    """Return the current user of a browser session or token; None if it has ended or the user is disabled.

    For long requests, such as event streams: `used` was valid at their start.
    """
    find = queries.session_by_hash if isinstance(used, WebSession) else queries.token_by_hash
    found = find(session, used.token_hash)
    return found.user if found else None


def is_use_worth_recording(used: WebSession | ApiToken) -> bool:
    """Whether the stored time of last use is old enough to call `record_use`, in a writing transaction."""
    return used.last_used_at is None or now() - used.last_used_at >= LAST_USE_PRECISION


def record_use(session: Session, used: WebSession | ApiToken) -> None:
    """Update the time of last use of a browser session or token."""
    model = type(used)
    session.execute(update(model).where(model.id == used.id).values(last_used_at=now()))


def sign_out(session: Session, *, web_session: WebSession) -> None:
    """End a browser session."""
    session.execute(delete(WebSession).where(WebSession.id == web_session.id))
    person = audit.Row("users", web_session.user_id)
    audit.record(session, actor=person, action="user.sign_out", subject=person)


def change_profile(session: Session, *, user: User, name: str, affiliation: str) -> User:
    """Change the name and affiliation of a user's account; what was submitted keeps the names given with it.

    Raises:
        InvalidInputError: for `name`, `affiliation`.
        NotSignedInError: the user no longer exists.
    """
    checks = FieldChecks()
    tidy = checked_names(checks, name=name, affiliation=affiliation)
    checks.finish()
    stored = queries.locked_user(session, user.id)
    if stored is None:
        raise NotSignedInError("Sign in first.")
    if (stored.name, stored.affiliation) != (tidy["name"], tidy["affiliation"]):
        stored.name, stored.affiliation = tidy["name"], tidy["affiliation"]
        audit.record(session, actor=user, action="user.change_profile", subject=stored)
    return stored


def sessions_of(session: Session, user: User, *, idle_timeout: timedelta | None = None) -> Sequence[WebSession]:
    """Return a user's unexpired browser sessions, most recently used first; see `queries.sessions_of`."""
    return queries.sessions_of(session, user.id, idle_timeout=idle_timeout)


def revoke_session(session: Session, *, user: User, session_id: uuid.UUID) -> None:
    """End one of the user's own browser sessions.

    Raises:
        NotFoundError: the user has none with this id.
    """
    found = session.get(WebSession, session_id)
    if found is None or found.user_id != user.id:
        raise NotFoundError("This session does not exist.")
    session.delete(found)
    audit.record(session, actor=user, action="user.end_session", subject=user)


def password_hash_of(session: Session, *, user: User) -> str:
    """Return the hash to verify a user's current password against.

    Raises:
        LimitedError: too many wrong passwords.
        NotSignedInError: the user no longer exists.
    """
    rate_limits.enforce(session, {rate_limits.PASSWORD_CHECK: str(user.id)})
    stored = session.get(User, user.id)
    if stored is None:
        raise NotSignedInError("Sign in first.")
    return stored.password_hash


def refuse_password(session: Session, *, user: User, field: str) -> NoReturn:
    """Count a wrong password.

    Raises:
        WrongPasswordError: always, for `field`.
        LimitedError: too many wrong passwords; parallel attempts are counted one after the other.
    """
    rate_limits.spend(session, {rate_limits.PASSWORD_CHECK: str(user.id)})
    stored = session.get(User, user.id)
    if stored is not None and stored.password_hash == NO_PASSWORD:
        raise WrongPasswordError({field: "The account has no password yet. Choose one first: Account, Password."})
    raise WrongPasswordError({field: "This is not your current password."})
