"""Everybody with an account, for administrators. What they change is in `app.accounts.administration`."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session

from vocboard.app.accounts import administration, queries, second_factor
from vocboard.app.accounts.models import Role, User
from vocboard.app.accounts.removal import DELETED_DOMAIN
from vocboard.app.challenges.bans import ban_from
from vocboard.app.challenges.models import Ban, Challenge, ChallengeOrganiser
from vocboard.app.database import now
from vocboard.app.errors import NotFoundError
from vocboard.app.messaging import undelivered
from vocboard.app.messaging.undelivered import Undelivered
from vocboard.app.organising import bans
from vocboard.app.paging import PER_PAGE, Page, paginate
from vocboard.app.participating.leaving import Naming, delete_account
from vocboard.app.settings import Settings
from vocboard.app.submissions.models import Submission
from vocboard.app.transfer.importing_people import NOBODYS_DOMAIN

MAX_UNDELIVERED = 10  # on the page of a person


class AccountState(StrEnum):
    """Whether somebody can use an account."""

    ACTIVE = "active"
    UNCONFIRMED = "unconfirmed"  # the email address is not confirmed
    WAITING = "waiting"  # for an approval
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class Filters:
    """Whom to show; None and empty for all.

    Attributes:
        q: part of a name, an affiliation or an email address.
        since, until: of the registration; `until` itself is left out.
    """

    q: str = ""
    role: Role | None = None
    state: AccountState | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_any(self) -> bool:
        """Whether they leave anybody out."""
        return bool(self.q or self.role or self.state or self.since or self.until)


@dataclass(frozen=True, slots=True)
class Person:
    """An account with what administrators decide on.

    Attributes:
        sessions, tokens: number of those that are valid.
        last_used_at: when a session or token was last used, at most five minutes before the last use.
        submissions: number of them, in all challenges.
        organised: the challenges that the person organises, by title.
        ban: from the whole server.
        undelivered: the latest email to the person that could not be sent.
    """

    user: User
    state: AccountState
    has_second_factor: bool
    sessions: int
    tokens: int
    last_used_at: datetime | None
    submissions: int
    organised: Sequence[Challenge]
    ban: Ban | None
    undelivered: Sequence[Undelivered]


def page_of_people(session: Session, *, filters: Filters, page: int = 1, per_page: int = PER_PAGE) -> Page[User]:
    """Return a page of the accounts, by name. Deleted accounts, and people of imported challenges, are not listed."""
    query: Select[User] = select(User).where(_is_account(), *_conditions(filters))
    return paginate(session, query.order_by(func.lower(User.name), User.id), page=page, per_page=per_page)


def get(session: Session, user_id: uuid.UUID) -> User:
    """Return the account with this id.

    Raises:
        NotFoundError: there is none, or it was deleted.
    """
    found = session.scalar(select(User).where(User.id == user_id, _is_account()))
    if found is None:
        raise NotFoundError("There is no such account.")
    return found


def locked(session: Session, user_id: uuid.UUID) -> User:
    """Return the account with this id, locked, to change it.

    Raises:
        NotFoundError: as `get`.
    """
    found = queries.locked_user(session, get(session, user_id).id)
    if found is None:
        raise NotFoundError("There is no such account.")
    return found


def details(session: Session, user_id: uuid.UUID, settings: Settings) -> Person:
    """Return an account with everything that its page shows.

    Raises:
        NotFoundError: as `get`.
    """
    user = get(session, user_id)
    unexpired = queries.sessions_of(session, user.id)
    sessions = queries.sessions_of(session, user.id, idle_timeout=settings.session_idle_timeout)
    tokens = [one for one in queries.tokens_of(session, user.id) if one.revoked_at is None and one.expires_at > now()]
    used = [*(one.last_used_at for one in unexpired), *(one.last_used_at for one in tokens)]
    organised = (
        select(Challenge)
        .join(ChallengeOrganiser, ChallengeOrganiser.challenge_id == Challenge.id)
        .where(ChallengeOrganiser.user_id == user.id)
        .order_by(Challenge.title)
    )
    return Person(
        user=user,
        state=state_of(user),
        has_second_factor=second_factor.is_set_up(session, user.id),
        sessions=len(sessions),
        tokens=len(tokens),
        last_used_at=max(filter(None, used), default=None),
        submissions=session.scalar(select(func.count()).where(Submission.user_id == user.id)) or 0,
        organised=session.scalars(organised).all(),
        ban=ban_from(session, user_id=user.id, challenge_id=None),
        undelivered=undelivered.page_of(session, recipient=user.email, per_page=MAX_UNDELIVERED).items,
    )


def enable(session: Session, *, user: User, actor: User, site: str) -> None:
    """Enable a disabled account; if a ban from the server has disabled it, that is lifted, and the person is told.

    Args:
        user: of this transaction.
        site: the public URL, for the email.
    """
    if ban_from(session, user_id=user.id, challenge_id=None) is not None:
        bans.lift_server_ban(session, person=user, user=actor, site=site)
    elif user.disabled_at is not None:
        administration.enable(session, user=user, actor=actor)


def delete(session: Session, *, user: User, naming: Naming, actor: User, settings: Settings) -> None:
    """Delete the account of somebody else; see `leaving.delete_account`.

    Raises:
        ConflictError: the actor is the user, or the user owns a challenge.
    """
    administration.require_other(session, user, actor)
    delete_account(session, user=user, naming=naming, settings=settings, actor=actor)


def state_of(user: User) -> AccountState:
    """Return whether the person can use the account."""
    if user.disabled_at is not None:
        return AccountState.DISABLED
    if not user.is_confirmed:
        return AccountState.UNCONFIRMED
    return AccountState.ACTIVE if user.is_approved else AccountState.WAITING


def _is_account() -> ColumnElement[bool]:
    return ~or_(*(User.email.endswith(f"@{domain}") for domain in (DELETED_DOMAIN, NOBODYS_DOMAIN)))


def _conditions(filters: Filters) -> list[ColumnElement[bool]]:
    conditions = []
    if wanted := "".join(filter(str.isprintable, filters.q)).strip():
        columns = User.name, User.email, User.affiliation
        conditions.append(or_(*(column.icontains(wanted, autoescape=True) for column in columns)))
    if filters.role is not None:
        conditions.append(User.role == filters.role)
    if filters.since is not None:
        conditions.append(User.created_at >= filters.since)
    if filters.until is not None:
        conditions.append(User.created_at < filters.until)
    is_enabled, is_confirmed = User.disabled_at.is_(None), User.email_confirmed_at.is_not(None)
    is_approved = User.approved_at.is_not(None)
    conditions += {
        None: [],
        AccountState.ACTIVE: [is_enabled, is_confirmed, is_approved],
        AccountState.UNCONFIRMED: [is_enabled, ~is_confirmed],
        AccountState.WAITING: [is_enabled, is_confirmed, ~is_approved],
        AccountState.DISABLED: [~is_enabled],
    }[filters.state]
    return conditions
