"""Database queries for users, sessions and tokens."""

import uuid
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import select, true
from sqlalchemy.orm import Session, joinedload

from vocboard.app.accounts.models import ApiToken, Role, User, WebSession
from vocboard.app.database import now


def user_by_email(session: Session, email: str) -> User | None:
    """Return the user with this (normalised) address."""
    return session.scalar(select(User).where(User.email == email))


def confirmed_account_of_mailbox(session: Session, mailbox: str) -> User | None:
    """Return a user with a confirmed address of this mailbox (see `models.mailbox`), disabled or not."""
    confirmed = select(User).where(User.mailbox == mailbox, User.email_confirmed_at.is_not(None))
    return session.scalars(confirmed.order_by(User.created_at, User.id).limit(1)).one_or_none()


def locked_user(session: Session, user_id: uuid.UUID) -> User | None:
    """Return the current row of the user, locked on PostgreSQL until the transaction ends."""
    statement = select(User).where(User.id == user_id).with_for_update().execution_options(populate_existing=True)
    return session.scalar(statement)


def users(session: Session) -> Sequence[User]:
    """Return all users, ordered by email address."""
    return session.scalars(select(User).order_by(User.email)).all()


def active_with_role(session: Session, role: Role, *, limit: int) -> Sequence[User]:
    """Return the first users with a role who can sign in."""
    return session.scalars(
        select(User)
        .where(User.role == role, User.disabled_at.is_(None), User.email_confirmed_at.is_not(None))
        .order_by(User.created_at, User.id)
        .limit(limit)
    ).all()


def session_by_hash(session: Session, token_hash: bytes, *, idle_timeout: timedelta | None = None) -> WebSession | None:
    """Return the browser session with its user, if it is neither expired nor idle and the user is not disabled."""
    return session.scalar(
        select(WebSession)
        .join(WebSession.user)
        .options(joinedload(WebSession.user))
        .where(
            WebSession.token_hash == token_hash,
            WebSession.expires_at > now(),
            User.disabled_at.is_(None),
            WebSession.last_used_at > now() - idle_timeout if idle_timeout else true(),
        )
    )


def sessions_of(session: Session, user_id: uuid.UUID, *, idle_timeout: timedelta | None = None) -> Sequence[WebSession]:
    """Return a user's unexpired browser sessions, most recently used first.

    Args:
        idle_timeout: without those that were not used for that long, which have ended, too; None for all.
    """
    return session.scalars(
        select(WebSession)
        .where(
            WebSession.user_id == user_id,
            WebSession.expires_at > now(),
            WebSession.last_used_at > now() - idle_timeout if idle_timeout else true(),
        )
        .order_by(WebSession.last_used_at.desc(), WebSession.id)
    ).all()


def token_by_hash(session: Session, token_hash: bytes) -> ApiToken | None:
    """Return the valid token with its user, if the user is not disabled."""
    return session.scalar(
        select(ApiToken)
        .join(ApiToken.user)
        .options(joinedload(ApiToken.user))
        .where(
            ApiToken.token_hash == token_hash,
            ApiToken.expires_at > now(),
            ApiToken.revoked_at.is_(None),
            User.disabled_at.is_(None),
        )
    )


def tokens_of(session: Session, user_id: uuid.UUID) -> Sequence[ApiToken]:
    """Return a user's tokens, including expired and revoked ones, newest first."""
    return session.scalars(
        select(ApiToken).where(ApiToken.user_id == user_id).order_by(ApiToken.created_at.desc(), ApiToken.id)
    ).all()
