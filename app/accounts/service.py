"""Accounts: registration, signing in, browser sessions, passwords.

People handed to these functions may come from another transaction: only their ids are relied upon. API tokens are in
`app.accounts.tokens`, what only administrators do in `app.accounts.administration`.
"""

import uuid
from collections.abc import Sequence
from datetime import timedelta

from email_validator import EmailNotValidError, validate_email
from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from app.accounts import limits, passwords, queries
from app.accounts.models import ApiToken, Role, User, WebSession
from app.accounts.secret_tokens import digest, new_secret
from app.accounts.tokens import acting_with, create_token, revoke_token, tokens_of, user_of_token
from app.audit import service as audit
from app.characters import cleaned
from app.database import now
from app.errors import ForbiddenError, NotFoundError, SignInError, WrongPasswordError
from app.fields import FieldChecks

__all__ = [
    "acting_with",
    "change_password",
    "create_token",
    "is_use_worth_recording",
    "new_user",
    "record_use",
    "register",
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


def register(
    session: Session, *, email: str, name: str, affiliation: str, password: str, address: str, is_open: bool
) -> None:
    """Make a participant's account, unless the e-mail address has one: then nothing happens.

    The answer, and the work, is the same in both cases: the caller sends the person to sign in either way.

    Args:
        address: the client's, for the limit.
        is_open: `Settings.registration_open`.

    Raises:
        ForbiddenError: registration is closed.
        InvalidInputError: on `email`, `name`, `affiliation`, `password`.
        LimitedError: too many registrations from this address or for this e-mail address.
    """
    if not is_open:
        raise ForbiddenError("Accounts on this server are made by its organisers. Ask them for one.")
    person = _checked_person(email=email, name=name, affiliation=affiliation, password=password)
    subjects = {
        limits.REGISTRATION_OF_ACCOUNT: person["email"],
        limits.REGISTRATION_FROM_ADDRESS: limits.network(address),
    }
    limits.enforce(session, subjects)  # before the password is hashed: a flood costs next to nothing
    limits.count(session, subjects)
    user = User(**person, password_hash=passwords.hashed(password), role=Role.PARTICIPANT)
    if queries.user_by_email(session, user.email) is None:
        session.add(user)
        session.flush()


def new_user(*, email: str, name: str, affiliation: str, password: str, role: Role) -> User:
    """Return a person that is not in the database yet, from what a form says.

    Raises:
        InvalidInputError: on `email`, `name`, `affiliation`, `password`.
    """
    person = _checked_person(email=email, name=name, affiliation=affiliation, password=password)
    return User(**person, password_hash=passwords.hashed(password), role=role)


def normalised_email(email: str) -> str | None:
    """Return the form in which an address is stored and compared; None if it is no e-mail address."""
    try:
        # Laboratories have names of hosts that the public DNS does not know.
        checked = validate_email(email.strip(), check_deliverability=False, globally_deliverable=False)
    except EmailNotValidError:
        return None
    return checked.normalized.lower()


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
        SignInError: there is no such account, it is disabled, or the password is wrong; the answer and the work are
            the same. The failed attempt is counted.
        LimitedError: too many failed attempts from this address or for this account, existing or not.
    """
    normalised = normalised_email(email)
    subjects = {
        limits.SIGN_IN_OF_ACCOUNT: normalised or "not an e-mail address",
        limits.SIGN_IN_FROM_ADDRESS: limits.network(address),
    }
    limits.enforce(session, subjects)
    user = queries.user_by_email(session, normalised) if normalised else None
    if not passwords.matches(password, user.password_hash if user else None) or user is None or user.disabled_at:
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


def change_password(
    session: Session, *, user: User, current_password: str, new_password: str, keep: WebSession | None
) -> None:
    """Set a person's password and end all browser sessions but the one that asks for it.

    Raises:
        WrongPasswordError: on `current_password`; the attempt is counted.
        InvalidInputError: on `new_password`.
        LimitedError: too many wrong passwords.
    """
    subjects = {limits.PASSWORD_CHECK: str(user.id)}
    limits.enforce(session, subjects)
    stored = queries.locked_user(session, user.id)
    if stored is None or not passwords.matches(current_password, stored.password_hash):
        limits.count(session, subjects)
        raise WrongPasswordError({"current_password": "This is not your present password."})
    set_password(session, user=stored, password=new_password, field="new_password", keep=keep)
    audit.record(session, actor=stored, action="user.change_password", subject=stored)


def set_password(session: Session, *, user: User, password: str, field: str, keep: WebSession | None) -> None:
    """Check and set the password of a person of this transaction; end the browser sessions but `keep`.

    Raises:
        InvalidInputError: on `field`.
    """
    checks = FieldChecks()
    passwords.check(checks, field, password, email=user.email)
    checks.finish()
    user.password_hash = passwords.hashed(password)
    ended = delete(WebSession).where(WebSession.user_id == user.id)
    session.execute(ended.where(WebSession.id != keep.id) if keep else ended)


def _checked_person(*, email: str, name: str, affiliation: str, password: str) -> dict[str, str]:
    """Return the columns `email`, `name` and `affiliation` of a person, tidied, once the password is checked too."""
    checks = FieldChecks()
    normalised = normalised_email(email)
    if normalised is None:
        checks.fail("email", "This is not an e-mail address.")
    tidy_name = checks.line("name", name, longest=200, required=True)
    tidy_affiliation = checks.line("affiliation", affiliation, longest=200)
    passwords.check(checks, "password", password, email=email)
    checks.finish()
    return {"email": normalised or "", "name": tidy_name, "affiliation": tidy_affiliation}
