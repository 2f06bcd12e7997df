"""Accounts: signing in, browser sessions, passwords.

People handed to these functions may come from another transaction: only their ids are relied upon. Registration is in
`app.accounts.registration`, API tokens are in `app.accounts.tokens`, what only administrators do is in
`app.accounts.administration`.
"""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import NoReturn

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from app.accounts import limits, passwords, queries
from app.accounts.models import ApiToken, User, WebSession
from app.accounts.people import normalised_email
from app.accounts.secret_tokens import digest, new_secret
from app.accounts.tokens import acting_with, create_token, revoke_token, tokens_of, user_of_token
from app.characters import cleaned
from app.database import now
from app.errors import NotFoundError, NotSignedInError, SignInError, WrongPasswordError

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
    "sign_in",
    "sign_out",
    "still_valid",
    "tokens_of",
    "user_of_session",
    "user_of_token",
]

LAST_USE_PRECISION = timedelta(minutes=5)  # so that not every request writes
LONGEST_BROWSER_NAME = 200


def sign_in(
    session: Session, *, email: str, password: str, address: str, browser: str, lifetime: timedelta
) -> tuple[User, str]:
    """Start a browser session.

    Args:
        address: the client's, for the limit.
        browser: the user agent, for the person's list of sessions.
        lifetime: `Settings.session_lifetime`.

    Returns:
        The person and the secret for the cookie.

    Raises:
        SignInError: there is no such account, it is disabled or its address not confirmed, or the password is wrong;
            the answer and the work are the same. The failed attempt is counted.
        LimitedError: too many failed attempts from this address or for this account, existing or not.
    """
    normalised = normalised_email(email)
    subjects = {
        limits.SIGN_IN_OF_ACCOUNT: normalised or "not an e-mail address",
        limits.SIGN_IN_FROM_ADDRESS: limits.network(address),
    }
    limits.enforce(session, subjects)
    user = queries.user_by_email(session, normalised) if normalised else None
    matches = passwords.matches(password, user.password_hash if user else None)
    if not matches or user is None or user.disabled_at or not user.is_confirmed:
        limits.count(session, subjects)
        raise SignInError("The e-mail address or the password is wrong.")
    if passwords.is_outdated(user.password_hash):
        user.password_hash = passwords.hashed(password)
    instant = now()
    session.execute(delete(WebSession).where(WebSession.user_id == user.id, WebSession.expires_at <= instant))
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
    return user, secret


def user_of_session(session: Session, secret: str) -> tuple[User, WebSession] | None:
    """Return whom a cookie's secret belongs to; None if it is unknown, expired or revoked, or its owner disabled."""
    found = queries.session_by_hash(session, digest(secret))
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
        raise NotFoundError("There is no such session.")
    session.delete(found)
    session.flush()


def password_hash_of(session: Session, *, user: User) -> str:
    """Return the hash to check a person's present password against.

    Raises:
        LimitedError: too many passwords were wrong.
        NotSignedInError: there is no such person any more.
    """
    limits.enforce(session, {limits.PASSWORD_CHECK: str(user.id)})
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
    subjects = {limits.PASSWORD_CHECK: str(user.id)}
    limits.enforce(session, subjects)
    limits.count(session, subjects)
    raise WrongPasswordError({field: "This is not your password."})
