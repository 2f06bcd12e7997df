"""Rate limits: a number of attempts in a rolling period, by address or account."""

import ipaddress
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import String, delete, event, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from vocboard.app.database import Base, CreatedAt, Identifier, lock_for_transaction, now
from vocboard.app.errors import LimitedError

MAX_PERIOD = timedelta(hours=24)  # attempts are deleted after this


class Attempt(Base):
    """An attempt at a rate-limited action, such as sign-in or registration."""

    __tablename__ = "attempts"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt] = mapped_column(index=True)
    action: Mapped[str] = mapped_column(String(30))
    subject: Mapped[str] = mapped_column(String(254), index=True)  # an IP address, email address or user id


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `count` attempts at `action` by one subject in any `period`.

    Attributes:
        is_told: whether programs are told what is left of it: not of limits on guessing, or by what others do.
    """

    action: str
    count: int
    period: timedelta
    is_told: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """What is left of a limit.

    Attributes:
        name: of the limit.
        quota: at most so much in any `period`.
        remaining: of it.
        more_at: when some of what was used no longer counts.
        unit: of `quota`; requests by default.
    """

    name: str
    quota: int
    period: timedelta
    remaining: int
    more_at: datetime
    unit: str = ""


_told: ContextVar[dict[str, Standing] | None] = ContextVar("standings", default=None)


# Failed sign-ins, which delay the next ones: per account and network; per account; per network, which a whole lab may
# share; and per account and known browser.
SIGN_IN_OF_PAIR = Limit("sign_in_of_pair", 5, timedelta(minutes=15))
SIGN_IN_OF_ACCOUNT = Limit("sign_in_of_account", 50, timedelta(minutes=15))
SIGN_IN_FROM_ADDRESS = Limit("sign_in_from_address", 100, timedelta(minutes=15))
SIGN_IN_OF_KNOWN_BROWSER = Limit("sign_in_of_known_browser", 10, timedelta(minutes=15))
SIGN_INS_OF_PERSON = Limit("sign_ins_of_person", 60, timedelta(hours=1))  # successful sign-ins
# Answers of OpenID Connect providers, before the server asks the provider about them; each is accepted once.
PROVIDER_ANSWERS_FROM_ADDRESS = Limit("provider_answers", 200, timedelta(minutes=15))
PROVIDER_ANSWER = Limit("provider_answer", 1, timedelta(minutes=15))  # longer than it is valid
REGISTRATION_OF_ACCOUNT = Limit("registration_of_account", 5, timedelta(hours=1))
# A separate limit, so that registrations by others cannot prevent somebody from resetting a password.
RESET_OF_ACCOUNT = Limit("reset_of_account", 5, timedelta(hours=1))
REGISTRATION_FROM_ADDRESS = Limit("registration_from_address", 30, timedelta(hours=1))
INVITATIONS_BY_PERSON = Limit("invitations_by_person", 30, timedelta(hours=24), is_told=True)
ANNOUNCEMENTS_BY_EMAIL = Limit("announcements_by_email", 10, timedelta(hours=24), is_told=True)  # of a challenge
ADMISSIONS_BY_EMAIL = Limit("admissions_by_email", 10, timedelta(hours=24), is_told=True)  # of a challenge
REQUESTS_BY_PERSON = Limit("requests_by_person", 20, timedelta(hours=1), is_told=True)  # to be admitted
QUESTIONS_BY_PERSON = Limit("questions_by_person", 10, timedelta(hours=1), is_told=True)
WEBHOOK_TESTS = Limit("webhook_tests", 20, timedelta(hours=1), is_told=True)  # of a person
PASSWORD_CHECK = Limit("password_check", 10, timedelta(minutes=15))  # wrong current passwords

SECOND_FACTOR = Limit("second_factor", 5, timedelta(minutes=15))  # wrong codes
SECURITY_KEY_ANSWER = Limit("security_key_answer", 1, timedelta(minutes=15))  # longer than a challenge is valid
SECOND_FACTOR_OF_DAY = Limit("second_factor_of_day", 30, timedelta(hours=24))  # 90 of a million codes are tried


def enforce(session: Session, subjects: Mapping[Limit, str]) -> None:
    """Raise `LimitedError` if any of the limits is reached.

    Locks the limits for these subjects until the transaction ends, so that parallel attempts are counted one after the
    other.

    Args:
        subjects: for each limit, the IP address, email address or id that it is counted for.
    """
    lock_for_transaction(session, *(f"{limit.action} {subject}" for limit, subject in subjects.items()))
    instant = now()
    used_up = []
    for limit, subject in subjects.items():
        decisive = session.scalar(
            select(Attempt.created_at)
            .where(
                Attempt.action == limit.action,
                Attempt.subject == subject,
                Attempt.created_at > instant - limit.period,
            )
            .order_by(Attempt.created_at.desc())
            .offset(limit.count - 1)
            .limit(1)
        )
        if decisive is not None:
            used_up.append(decisive + limit.period)
            if limit.is_told:
                tell_refused(Standing(limit.action, limit.count, limit.period, 0, used_up[-1]))
    if used_up:
        raise LimitedError("Too many attempts. Try again later.", allowed_at=max(used_up))


def recent(session: Session, limit: Limit, subject: str) -> int:
    """Return the number of attempts that count against a limit."""
    query = select(func.count()).where(
        Attempt.action == limit.action, Attempt.subject == subject, Attempt.created_at > now() - limit.period
    )
    return session.scalar(query) or 0


def count(session: Session, subjects: Mapping[Limit, str]) -> None:
    """Record an attempt for each of the limits, and delete attempts that no limit counts any more."""
    instant = now()
    session.execute(delete(Attempt).where(Attempt.created_at <= instant - MAX_PERIOD))
    session.add_all(
        Attempt(action=limit.action, subject=subject, created_at=instant) for limit, subject in subjects.items()
    )
    session.flush()
    for limit, subject in subjects.items():
        if limit.is_told and _told.get() is not None:
            counted = select(func.count(), func.min(Attempt.created_at)).where(
                Attempt.action == limit.action, Attempt.subject == subject, Attempt.created_at > instant - limit.period
            )
            used, oldest = session.execute(counted).one()
            more_at = oldest + limit.period
            tell(session, Standing(limit.action, limit.count, limit.period, max(0, limit.count - used), more_at))


def spend(session: Session, subjects: Mapping[Limit, str]) -> None:
    """Record an attempt for each of the limits; raise `LimitedError` if one is reached (see `enforce`)."""
    enforce(session, subjects)
    count(session, subjects)


@contextmanager
def telling() -> Iterator[dict[str, Standing]]:
    """Collect, by name, what is left of the limits that the block counts or is refused by, also in its threads."""
    found: dict[str, Standing] = {}
    token = _told.set(found)
    try:
        yield found
    finally:
        _told.reset(token)


def tell(session: Session, standing: Standing) -> None:
    """Tell what is left of a limit once the transaction is committed."""
    found = _told.get()
    if found is not None:
        event.listen(session, "after_commit", lambda _: found.update({standing.name: standing}), once=True)


def tell_refused(standing: Standing) -> None:
    """Tell that nothing, or too little, is left of a limit."""
    found = _told.get()
    if found is not None:
        found[standing.name] = standing


def network(address: str) -> str:
    """Return the network of an address for rate limits: the address itself, or the /64 for IPv6.

    >>> network("192.0.2.7"), network("2001:db8:1:2:3:4:5:6"), network("testclient")
    ('192.0.2.7', '2001:db8:1:2::/64', 'testclient')
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:254]
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.IPv6Network((parsed, 64), strict=False))
    return str(parsed)
