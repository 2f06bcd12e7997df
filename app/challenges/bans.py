"""Who may not take part in a challenge. `app.organising.bans` bans people and lifts bans."""

import uuid
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import and_, case, or_, select
from sqlalchemy.orm import Session, joinedload

from vocboard.app.accounts.models import User, mailbox
from vocboard.app.challenges.models import Ban
from vocboard.app.errors import ForbiddenError


def ban_from(session: Session, *, user_id: uuid.UUID, challenge_id: uuid.UUID | None) -> Ban | None:
    """Return the ban of a person from a challenge; from the server, if there is no challenge."""
    return session.scalar(select(Ban).where(Ban.user_id == user_id, Ban.challenge_id == challenge_id))


def bans_of_people(
    session: Session, *, user_ids: Collection[uuid.UUID], challenge_id: uuid.UUID
) -> Mapping[uuid.UUID, Ban]:
    """Return the first ban of each person who is banned from a challenge, by the person's id.

    A ban is of an account or, where it was imported, of a confirmed address in all of its spellings (see
    `app.accounts.models.mailbox`). Only for the web process, because workers know no addresses.
    """
    person = and_(User.id.in_(user_ids), or_(Ban.user_id == User.id, Ban.email.is_not(None)))
    confirmed = case((User.email_confirmed_at.is_not(None), User.mailbox))
    query = select(Ban, User.id, confirmed).join(User, person).where(Ban.challenge_id == challenge_id)
    found: dict[uuid.UUID, Ban] = {}
    for ban, user_id, own_mailbox in session.execute(query.order_by(Ban.created_at, Ban.id)):
        if ban.user_id == user_id or (ban.email is not None and mailbox(ban.email) == own_mailbox):
            found.setdefault(user_id, ban)
    return found


def bans_of(session: Session, challenge_id: uuid.UUID) -> Sequence[Ban]:
    """Return the bans from a challenge with the people, the newest first."""
    return session.scalars(
        select(Ban)
        .where(Ban.challenge_id == challenge_id)
        .options(joinedload(Ban.user))
        .order_by(Ban.created_at.desc(), Ban.id)
    ).all()


def require_not_banned(session: Session, *, user_id: uuid.UUID, challenge_id: uuid.UUID) -> None:
    """Check that a person may take part in a challenge; it stays so only while the caller has locked the person's row.

    Raises:
        ForbiddenError: the person is banned, and why.
    """
    ban = bans_of_people(session, user_ids=[user_id], challenge_id=challenge_id).get(user_id)
    if ban is not None:
        raise banned(ban)


def banned(ban: Ban) -> ForbiddenError:
    """Return what a banned person is told."""
    return ForbiddenError(f"The organisers have banned you from this challenge: “{ban.reason}”")
