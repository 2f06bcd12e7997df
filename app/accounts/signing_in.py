"""Signing in: delays after failed attempts, argon2 between two short transactions, limits per user.

Failed attempts are counted per network and account together, so that nobody can lock others out from elsewhere; and,
with much higher limits, per account and per network. They only delay the next attempt, and never forbid it. Browsers
that signed in to the account before are counted separately and are not delayed by others.
"""

import hashlib
import uuid
from asyncio import sleep
from dataclasses import dataclass

from anyio import to_thread
from sqlalchemy.orm import Session

from vocboard.app import rate_limits
from vocboard.app.accounts import known_browsers, passwords, queries
from vocboard.app.accounts.models import User, WebSession
from vocboard.app.accounts.password_work import PasswordWork
from vocboard.app.accounts.people import normalised_email
from vocboard.app.accounts.service import sign_out, start_session
from vocboard.app.accounts.sign_in_queue import SignInQueue
from vocboard.app.audit import service as audit
from vocboard.app.database import Database
from vocboard.app.errors import SignInError
from vocboard.app.rate_limits import Limit
from vocboard.app.settings import Settings

FIRST_DELAY_SECONDS = 1.0  # of the first attempt beyond a limit; doubled for each further one
MAX_DELAY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Attempt:
    """A sign-in attempt.

    Attributes:
        address: IP address of the client.
        browser: the user agent, for the user's list of sessions.
        known_browser: cookie of earlier sign-ins; empty if there is none.
        replaces: the session that the browser has now, which ends with this sign-in; None if there is none.
    """

    email: str
    password: str
    address: str
    browser: str = ""
    known_browser: str = ""
    replaces: WebSession | None = None


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A new browser session.

    Attributes:
        secret: value of the session cookie.
        known_browser: value of the cookie for known browsers.
    """

    user: User
    secret: str
    known_browser: str


@dataclass(frozen=True, slots=True)
class _Found:
    """Data about an attempt from the database.

    Attributes:
        user: None if there is no account that can be signed in to.
        account: id of the account, whether or not it can be signed in to; None if there is none.
        subjects: rate limit subjects that a failure counts against.
        has_failed: whether the browser or its network has recently sent wrong passwords.
    """

    user: User | None
    account: uuid.UUID | None
    subjects: dict[Limit, str]
    has_failed: bool
    delay_seconds: float


class SignInService:
    """Handles the sign-in attempts of one web process."""

    def __init__(self, work: PasswordWork, settings: Settings) -> None:
        self._work = work
        self._key = settings.secret_key.get_secret_value()
        self._lifetime = settings.session_lifetime
        self._queue = SignInQueue()

    async def sign_in(self, database: Database, attempt: Attempt) -> SignedIn:
        """Start a browser session. The attempt holds no resources while it waits for its turn, delay or hash.

        Raises:
            SignInError: there is no such account, it is disabled or not confirmed, or the password is wrong; response
            and amount of work are the same. The failure is counted.
            LimitedError: too many sign-ins in the last hour.
            BusyError: too many attempts are waiting.
        """
        client = rate_limits.network(attempt.address)
        email = normalised_email(attempt.email) or "not an email address"
        line = _pair(client, f"{email} {attempt.known_browser}")  # known browsers do not wait for others
        async with self._queue.turn(line, client=client):
            found = await to_thread.run_sync(self._look_up, database, attempt, client, email)
            await sleep(found.delay_seconds)
            password_hash = found.user.password_hash if found.user else None
            own_turn = f"{client} known" if rate_limits.SIGN_IN_OF_KNOWN_BROWSER in found.subjects else client
            matches = await self._work.matches(
                attempt.password, password_hash, client=own_turn, has_failed=found.has_failed
            )
            if not matches or found.user is None:
                await to_thread.run_sync(_count, database, found, client)
                raise SignInError("The email address or the password is wrong.")
            renewed = None
            if passwords.is_outdated(found.user.password_hash):
                renewed = await self._work.hashed(attempt.password, client=own_turn)
            return await to_thread.run_sync(self._start, database, attempt, found.user, renewed, client)

    def _look_up(self, database: Database, attempt: Attempt, client: str, email: str) -> _Found:
        with database.reading() as session:
            user = queries.user_by_email(session, email)
            account = None if user is None else user.id
            if user is not None and (user.disabled_at is not None or not user.is_confirmed):
                user = None
            name = known_browsers.recognised(attempt.known_browser, user, self._key) if user else None
            subjects = (
                {rate_limits.SIGN_IN_OF_KNOWN_BROWSER: f"{email[:200]} {name}"}
                if name is not None
                else {
                    rate_limits.SIGN_IN_OF_PAIR: _pair(client, email),
                    rate_limits.SIGN_IN_OF_ACCOUNT: email,
                    rate_limits.SIGN_IN_FROM_ADDRESS: client,
                }
            )
            # Failures of others at this account do not count: they could delay its owner.
            own = {limit: subject for limit, subject in subjects.items() if limit is not rate_limits.SIGN_IN_OF_ACCOUNT}
            has_failed = any(rate_limits.recent(session, limit, subject) for limit, subject in own.items())
            return _Found(user, account, subjects, has_failed, delay_seconds(session, subjects))

    def _start(
        self, database: Database, attempt: Attempt, verified: User, renewed: str | None, client: str
    ) -> SignedIn:
        with database.writing() as session:
            user = queries.locked_user(session, verified.id)
            if user is None or user.disabled_at is not None or user.password_hash != verified.password_hash:
                raise SignInError("The email address or the password is wrong.")
            rate_limits.enforce(session, {rate_limits.SIGN_INS_OF_PERSON: str(user.id)})
            rate_limits.count(session, {rate_limits.SIGN_INS_OF_PERSON: str(user.id)})
            if renewed is not None:
                user.password_hash = renewed
            if attempt.replaces is not None:
                sign_out(session, web_session=attempt.replaces)
            audit.record(session, actor=user, action="user.sign_in", subject=user, details={"address": client})
            secret = start_session(session, user=user, browser=attempt.browser, lifetime=self._lifetime)
            return SignedIn(user, secret, known_browsers.with_mark(attempt.known_browser, user, self._key))


def _count(database: Database, found: _Found, client: str) -> None:
    """Count a failure and log it. What reaches a limit is the last that is logged: nobody can fill the log."""
    with database.writing() as session:
        rate_limits.count(session, found.subjects)
        beyond = _beyond(session, found.subjects)
        if beyond <= 0:
            # Not what was typed: some people type their password there.
            details = {"address": client, "is_last": beyond == 0}
            person = audit.PersonId(found.account)
            audit.record(session, actor=None, action="user.sign_in_failed", subject=person, details=details)


def delay_seconds(session: Session, subjects: dict[Limit, str]) -> float:
    """Return the delay of the next attempt: the maximum over its limits."""
    beyond = _beyond(session, subjects)
    if beyond < 0:
        return 0.0
    return min(FIRST_DELAY_SECONDS * 2.0 ** min(beyond, 10), MAX_DELAY_SECONDS)


def _beyond(session: Session, subjects: dict[Limit, str]) -> int:
    """Return how many attempts there are beyond the limits: the maximum over them, negative while none is reached."""
    return max(rate_limits.recent(session, limit, subject) - limit.count for limit, subject in subjects.items())


def _pair(client: str, email: str) -> str:
    return hashlib.sha256(f"{client} {email}".encode()).hexdigest()
