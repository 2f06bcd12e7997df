"""Who may not take part in a challenge. `app.organising.bans` bans people and lifts bans."""

import uuid
from collections.abc import Sequence

from sqlalchemy import or_, select
from sqlalchemy.orm import Session, joinedload

from vocboard.app.accounts.models import User, mailbox
from vocboard.app.challenges.models import Ban
from vocboard.app.errors import ForbiddenError


def ban_from(session: Session, *, user_id: uuid.UUID, challenge_id: uuid.UUID | None) -> Ban | None:
    """Return the ban of a person from a challenge; from the server, if there is no challenge."""
    return session.scalar(select(Ban).where(Ban.user_id == user_id, Ban.challenge_id == challenge_id))


def ban_of_person(session: Session, *, user_id: uuid.UUID, challenge_id: uuid.UUID) -> Ban | None:
    """Return the ban of a person from a challenge: of the account, or of its confirmed address where it was imported.

    All spellings of an address are banned (see `app.accounts.models.mailbox`). Only for the web process, because
    workers know no addresses.
    """
    own = select(User.mailbox).where(User.id == user_id, User.email_confirmed_at.is_not(None))
    query = select(Ban.id, Ban.user_id, Ban.email, own.scalar_subquery()).where(
        Ban.challenge_id == challenge_id, or_(Ban.user_id == user_id, Ban.email.is_not(None))
    )
    for ban_id, banned_id, email, own_mailbox in session.execute(query.order_by(Ban.created_at, Ban.id)):
        if banned_id == user_id or mailbox(email) == own_mailbox:
            return session.get_one(Ban, ban_id)
    return None


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
    ban = ban_of_person(session, user_id=user_id, challenge_id=challenge_id)
    if ban is not None:
        raise ForbiddenError(f"The organisers have banned you from this challenge: “{ban.reason}”")
