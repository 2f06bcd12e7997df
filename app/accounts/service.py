"""Accounts: browser sessions, and checks of the present password.

People handed to these functions may come from another transaction: only their ids are relied upon. Signing in is in
`app.accounts.signing_in`, registration in `app.accounts.registration`, API tokens are in `app.accounts.tokens`, what
only administrators do is in `app.accounts.administration`.
"""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import NoReturn

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from vocboard.app.accounts import queries
from vocboard.app.accounts.models import ApiToken, User, WebSession
from vocboard.app.accounts.secret_tokens import digest, new_secret
from vocboard.app.accounts.tokens import acting_with, create_token, revoke_token, tokens_of, user_of_token
from vocboard.app.database import now
from vocboard.app.errors import NotFoundError, NotSignedInError, WrongPasswordError
from vocboard.app.forms.characters import cleaned
from vocboard.app.rate_limits import attempts

__all__ = [
    "acting_with",
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

LAST_USE_PRECISION = timedelta(minutes=5)  # so that not every request writes
LONGEST_BROWSER_NAME = 200
MOST_SESSIONS = 20  # of one person


def start_session(session: Session, *, user: User, browser: str, lifetime: timedelta) -> str:
    """Start a browser session of a person of this transaction; beyond `MOST_SESSIONS` the least used ones end.

    Args:
        browser: the user agent, for the person's list of sessions.
        lifetime: `Settings.session_lifetime`.

    Returns:
        The secret for the cookie.
    """
    instant = now()
    session.execute(delete(WebSession).where(WebSession.user_id == user.id, WebSession.expires_at <= instant))
    for surplus in queries.sessions_of(session, user.id)[MOST_SESSIONS - 1 :]:
        session.delete(surplus)
    secret = new_secret()
    session.add(
        WebSession(
            user_id=user.id,
            token_hash=digest(secret),
            expires_at=instant + lifetime,
            last_used_at=instant,
            browser=cleaned(browser)[:LONGEST_BROWSER_NAME],
        )
    )
    session.flush()
    return secret


def user_of_session(
    session: Session, secret: str, *, idle_timeout: timedelta | None = None
) -> tuple[User, WebSession] | None:
    """Return whom a cookie's secret belongs to; None if it is unknown, expired or revoked, or its owner disabled.

    Args:
        idle_timeout: a session that was not used for so long has ended; None for no such limit.
    """
    found = queries.session_by_hash(session, digest(secret), idle_timeout=idle_timeout)
    return (found.user, found) if found else None


def still_valid(session: Session, used: WebSession | ApiToken) -> User | None:
    """Return whom a browser session or token belongs to now; None if it has ended, or its owner has been disabled.

    For what takes long, such as a stream of events: `used` was valid when that began.
    """
    find = queries.session_by_hash if isinstance(used, WebSession) else queries.token_by_hash
    found = find(session, used.token_hash)
    return found.user if found else None


def is_use_worth_recording(used: WebSession | ApiToken) -> bool:
    """Whether the stored time of last use is so old that `record_use` should be called, in a writing transaction."""
    return used.last_used_at is None or now() - used.last_used_at >= LAST_USE_PRECISION


def record_use(session: Session, used: WebSession | ApiToken) -> None:
    """Store that a browser session or token has just been used."""
    model = type(used)
    session.execute(update(model).where(model.id == used.id).values(last_used_at=now()))


def sign_out(session: Session, *, web_session: WebSession) -> None:
    """End a browser session."""
    session.execute(delete(WebSession).where(WebSession.id == web_session.id))


def sessions_of(session: Session, user: User) -> Sequence[WebSession]:
    """Return a person's unexpired browser sessions, the last used first."""
    return queries.sessions_of(session, user.id)


def revoke_session(session: Session, *, user: User, session_id: uuid.UUID) -> None:
    """End one of the person's own browser sessions.

    Raises:
        NotFoundError: there is none of that id, or it is another person's.
    """
    found = session.get(WebSession, session_id)
    if found is None or found.user_id != user.id:
        raise NotFoundError("This session does not exist.")
    session.delete(found)
    session.flush()


def password_hash_of(session: Session, *, user: User) -> str:
    """Return the hash to check a person's present password against.

    Raises:
        LimitedError: too many passwords were wrong.
        NotSignedInError: there is no such person any more.
    """
    attempts.enforce(session, {attempts.PASSWORD_CHECK: str(user.id)})
    stored = session.get(User, user.id)
    if stored is None:
        raise NotSignedInError("Sign in first.")
    return stored.password_hash


def refuse_password(session: Session, *, user: User, field: str) -> NoReturn:
    """Count a wrong password.

    Raises:
        WrongPasswordError: always, on `field`.
        LimitedError: too many passwords were wrong; parallel attempts are counted one after the other.
    """
    subjects = {attempts.PASSWORD_CHECK: str(user.id)}
    attempts.enforce(session, subjects)
    attempts.count(session, subjects)
    raise WrongPasswordError({field: "This is not your current password."})
