"""Signing in: delays after failed attempts, argon2 between two short transactions, limits per user.

Attempts from one network at one account are serialised, so that failures of one are counted before the next is checked.
Failed attempts are counted per network and account together, so that others cannot be locked out from elsewhere; and,
with much higher limits, per account and per network. They only delay the next attempt, and never forbid it.

An account with a second factor is only signed in to with a code as well. Between the two, the browser has a cookie that
says whose password it has sent; it is encrypted, and valid for a few minutes and for this password.

A provider of OpenID Connect can stand for the password (`app.accounts.identities`), but not for the code.

Browsers that signed in to the account before are counted separately and are not delayed by others. They have a
long-lived cookie with a signed mark for each such account; a new password invalidates all marks of the account.
"""

import asyncio
import hashlib
import hmac
import secrets
import uuid
from asyncio import sleep
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from anyio import to_thread
from sqlalchemy.orm import Session

from vocboard.app import rate_limits
from vocboard.app.accounts import identities, passwords, queries, second_factor, security_keys
from vocboard.app.accounts.models import User, WebSession
from vocboard.app.accounts.openid import ProvenIdentity
from vocboard.app.accounts.password_work import PasswordWork
from vocboard.app.accounts.people import normalised_email
from vocboard.app.accounts.registration import Registration
from vocboard.app.accounts.security_keys import Asked, KeyAnswer
from vocboard.app.accounts.service import sign_out, start_session
from vocboard.app.accounts.tickets import Tickets
from vocboard.app.audit import service as audit
from vocboard.app.database import Database, now
from vocboard.app.errors import BusyError, SignInError
from vocboard.app.rate_limits import Limit
from vocboard.app.settings import Settings

FIRST_DELAY_SECONDS = 1.0  # of the first attempt beyond a limit; doubled for each further one
MAX_DELAY_SECONDS = 30.0
MAX_WAITING = 512  # in the queue of one web process; a waiting one holds neither a thread nor a database connection
MAX_WAITING_PER_CLIENT = 192  # of these, of one network
REFUSAL_PAUSE_SECONDS = 5.0  # delay of rejections, so that immediate retries gain nothing
MAX_PAUSING = 512  # rejections
RETRY_AFTER_SECONDS = 10
CODE_WITHIN = timedelta(minutes=10)  # after the password
MAX_MARKS = 5  # accounts that one browser is known for; the oldest are dropped
_BETWEEN_MARKS = "~"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A sign-in attempt.

    Attributes:
        address: IP address of the client.
        browser: the user agent, for the user's list of sessions.
        known_browser: cookie of earlier sign-ins; empty if there is none.
        replaces: the session that the browser has now, which ends with this sign-in; None if there is none.
        links: the identity that signs in to the account from now on, if the attempt succeeds; None for none.
    """

    email: str
    password: str
    address: str
    browser: str = ""
    known_browser: str = ""
    replaces: WebSession | None = None
    links: ProvenIdentity | None = None


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
class CodeWanted:
    """The password was right, and the account has a second factor.

    Attributes:
        ticket: value of the cookie for `SignInService.finish`.
    """

    ticket: str


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
        self._tickets = Tickets("sign-in", server_key=self._key)
        self._settings = settings
        self._queue = SignInQueue()

    async def sign_in(self, database: Database, attempt: Attempt) -> SignedIn | CodeWanted:
        """Start a browser session. The attempt holds no resources while it waits for its turn, delay or hash.

        Returns:
            The session; or, for an account with a second factor, what `finish` needs.

        Raises:
            SignInError: there is no such account, it is disabled or not confirmed, or the password is wrong; response
            and amount of work are the same. The failure is counted.
            LimitedError: too many sign-ins in the last hour.
            BusyError: too many attempts are waiting.
        """
        client = rate_limits.network(attempt.address)
        email = normalised_email(attempt.email) or "not an email address"
        known = await to_thread.run_sync(self._known_name, database, attempt, email) if attempt.known_browser else ""
        line = _pair(client, f"{email} {known}")  # known browsers do not wait for others
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

    def _known_name(self, database: Database, attempt: Attempt, email: str) -> str:
        """Return the name of a browser that signed in to this account before; empty for any other, whatever it says."""
        with database.reading() as session:
            user = queries.user_by_email(session, email)
        return (user and browser_name(attempt.known_browser, user, self._key)) or ""

    def _look_up(self, database: Database, attempt: Attempt, client: str, email: str) -> _Found:
        with database.reading() as session:
            user = queries.user_by_email(session, email)
            account = None if user is None else user.id
            if user is not None and (user.disabled_at is not None or not user.is_confirmed):
                user = None
            name = browser_name(attempt.known_browser, user, self._key) if user else None
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

    def finish(
        self, database: Database, attempt: Attempt, *, ticket: str, code: str = "", key: KeyAnswer | None = None
    ) -> SignedIn:
        """Start a browser session with a code of the second factor, after `sign_in` or `sign_in_as`.

        Args:
            attempt: without address and password.
            key: the answer of a security key in place of a code.

        Raises:
            SignInError: the ticket is not valid any more.
            WrongCodeError: for `code`; the attempt is counted.
            LimitedError: too many wrong codes.
            ConflictError: as `identities.link`.
        """
        content = self._tickets.content(ticket)
        client = rate_limits.network(attempt.address)
        with database.writing() as session:
            user = queries.locked_user(session, uuid.UUID(content["user"])) if content else None
            if user is None or user.disabled_at is not None or content["password"] != _fingerprint(user):
                raise SignInError("Too much time has passed. Sign in again.")
            if second_factor.is_set_up(session, user.id) and key is not None:
                second_factor.check_key(session, user=user, answer=key, settings=self._settings)
            elif second_factor.is_set_up(session, user.id):
                second_factor.check(session, user=user, code=code, server_key=self._key)
            links = ProvenIdentity(*content["links"]) if content["links"] else None
            return self._begin(session, replace(attempt, links=links), user, client)

    def sign_in_as(self, database: Database, attempt: Attempt, proven: ProvenIdentity) -> SignedIn | CodeWanted | None:
        """Start a browser session for an identity that a provider has just proven.

        Args:
            attempt: without address and password.

        Returns:
            As `sign_in`; None if the identity is not linked to an account.

        Raises:
            SignInError: the account is disabled.
            LimitedError: as `sign_in`.
        """
        client = rate_limits.network(attempt.address)
        with database.writing() as session:
            found = identities.find(session, proven)
            if found is None:
                return None
            user = queries.locked_user(session, found.user_id)
            if user is None or user.disabled_at is not None or not user.is_confirmed:
                details = {"address": client, "is_last": False}
                person = audit.Row("users", found.user_id)
                audit.record(session, actor=None, action="user.sign_in_failed", subject=person, details=details)
                raise SignInError("You cannot sign in to this account. Ask the operators of this server.")
            found.last_used_at = now()
            return self._verified(session, attempt, user, client)

    def register(
        self, database: Database, attempt: Attempt, new: Registration, proven: ProvenIdentity
    ) -> SignedIn | CodeWanted:
        """Create an account for an identity, and start its first browser session.

        Raises:
            ConflictError, LimitedError: as `identities.register`.
        """
        with database.writing() as session:
            user = identities.register(session, new, proven, settings=self._settings)
            return self._verified(session, attempt, user, rate_limits.network(attempt.address))

    def key_wanted(self, database: Database, ticket: str) -> Asked | None:
        """Return what asks for a security key in place of a code; None if the person has none."""
        content = self._tickets.content(ticket)
        with database.reading() as session:
            user = session.get(User, uuid.UUID(content["user"])) if content else None
            return security_keys.ask(session, user=user, settings=self._settings) if user else None

    def is_ticket(self, ticket: str) -> bool:
        """Whether `finish` may accept a ticket."""
        return bool(self._tickets.content(ticket))

    def _start(
        self, database: Database, attempt: Attempt, verified: User, renewed: str | None, client: str
    ) -> SignedIn | CodeWanted:
        with database.writing() as session:
            user = queries.locked_user(session, verified.id)
            if user is None or user.disabled_at is not None or user.password_hash != verified.password_hash:
                raise SignInError("The email address or the password is wrong.")
            if renewed is not None:
                user.password_hash = renewed
            return self._verified(session, attempt, user, client)

    def _verified(self, session: Session, attempt: Attempt, user: User, client: str) -> SignedIn | CodeWanted:
        """Go on after the password, or what stands for it."""
        rate_limits.spend(session, {rate_limits.SIGN_INS_OF_PERSON: str(user.id)})
        if not second_factor.is_set_up(session, user.id):
            return self._begin(session, attempt, user, client)
        links = (attempt.links.issuer, attempt.links.subject) if attempt.links else None
        content = {"user": user.id.hex, "password": _fingerprint(user), "links": links}
        return CodeWanted(self._tickets.issue(content, CODE_WITHIN))

    def _begin(self, session: Session, attempt: Attempt, user: User, client: str) -> SignedIn:
        if attempt.replaces is not None:
            sign_out(session, web_session=attempt.replaces)
        if attempt.links is not None:
            identities.link(session, user=user, proven=attempt.links, settings=self._settings)
        audit.record(session, actor=user, action="user.sign_in", subject=user, details={"address": client})
        secret = start_session(session, user=user, browser=attempt.browser, lifetime=self._settings.session_lifetime)
        return SignedIn(user, secret, with_mark(attempt.known_browser, user, self._key))


def _fingerprint(user: User) -> str:
    """Return what changes with the password."""
    return hashlib.sha256(user.password_hash.encode()).hexdigest()


def _count(database: Database, found: _Found, client: str) -> None:
    """Count a failure and log it. The one that reaches a limit is the last that is logged, to bound the log."""
    with database.writing() as session:
        rate_limits.count(session, found.subjects)
        beyond = _beyond(session, found.subjects)
        if beyond <= 0:
            # Not what was typed: some people type their password there.
            details = {"address": client, "is_last": beyond == 0}
            person = audit.Row("users", found.account)
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


class SignInQueue:
    """The sign-in attempts of one web process, on one event loop."""

    def __init__(
        self,
        *,
        max_waiting: int = MAX_WAITING,
        max_waiting_per_client: int = MAX_WAITING_PER_CLIENT,
        refusal_pause_seconds: float = REFUSAL_PAUSE_SECONDS,
    ) -> None:
        self._max_waiting = max_waiting
        self._max_waiting_per_client = max_waiting_per_client
        self._refusal_pause_seconds = refusal_pause_seconds
        self._clients: Counter[str] = Counter()
        self._lines: dict[str, asyncio.Lock] = {}
        self._in_line: Counter[str] = Counter()
        self._pausing = 0

    @asynccontextmanager
    async def turn(self, line: str, *, client: str) -> AsyncIterator[None]:
        """Wait for earlier attempts in the same queue, and block later ones until the block ends.

        Args:
            line: identifies the queue: attempts from one network at one account.
            client: the network.

        Raises:
            BusyError: too many attempts are waiting, from this network or in total.
        """
        if self._clients[client] >= self._max_waiting_per_client or self._clients.total() >= self._max_waiting:
            await self._pause()
            raise BusyError(
                "Too many people are signing in at the moment. Try again in a few seconds.",
                retry_after=RETRY_AFTER_SECONDS,
            )
        self._clients[client] += 1
        self._in_line[line] += 1
        lock = self._lines.setdefault(line, asyncio.Lock())
        try:
            async with lock:
                yield
        finally:
            _count_down(self._clients, client)
            _count_down(self._in_line, line)
            if line not in self._in_line:
                del self._lines[line]

    async def _pause(self) -> None:
        if self._pausing >= MAX_PAUSING:
            return
        self._pausing += 1
        try:
            await asyncio.sleep(self._refusal_pause_seconds)
        finally:
            self._pausing -= 1


def _count_down(counter: Counter[str], name: str) -> None:
    counter[name] -= 1
    if not counter[name]:
        del counter[name]


def with_mark(cookie: str, user: User, key: str) -> str:
    """Return the cookie's value with a mark for this user, who has just signed in.

    Args:
        cookie: the current value; empty if there is none.
        key: the server's secret.
    """
    others = [mark for mark in _marks(cookie) if not mark.startswith(user.id.hex)]
    name = browser_name(cookie, user, key) or secrets.token_hex(8)
    return _BETWEEN_MARKS.join([_mark(user.id, name, user.password_hash, key), *others][:MAX_MARKS])


def browser_name(cookie: str, user: User, key: str) -> str | None:
    """Return the browser's random name if its cookie has a valid mark for this user, else None."""
    for mark in _marks(cookie):
        parts = mark.split(".")
        if len(parts) == 3 and parts[0] == user.id.hex:
            expected = _mark(user.id, parts[1], user.password_hash, key)
            if hmac.compare_digest(expected.encode(), mark.encode()):
                return parts[1]
    return None


def _marks(cookie: str) -> list[str]:
    return cookie.split(_BETWEEN_MARKS)[:MAX_MARKS]


def _mark(user_id: uuid.UUID, name: str, password_hash: str, key: str) -> str:
    signed = f"known browser {user_id.hex} {name} {password_hash}"
    signature = hmac.new(key.encode(), signed.encode(), hashlib.sha256).hexdigest()
    return f"{user_id.hex}.{name}.{signature}"
