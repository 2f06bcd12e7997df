"""What a person was told, and what the person wants by email."""

import uuid
from collections.abc import Mapping

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from vocboard.app.errors import NotFoundError
from vocboard.app.notifications.models import ALWAYS_EMAILED, Notification, NotificationKind, NotificationSetting
from vocboard.app.paging import PER_PAGE, Cursor, Page, paginate_by_time

EMAILED_BY_CHOICE = tuple(kind for kind in NotificationKind if kind not in ALWAYS_EMAILED)


def page_of(
    session: Session,
    user_id: uuid.UUID,
    *,
    unread: bool = False,
    page: int = 1,
    per_page: int = PER_PAGE,
    after: Cursor | None = None,
) -> Page[Notification]:
    """Return a page of what a person was told, newest first.

    Args:
        unread: only what is not marked as read.
    """
    own = select(Notification).where(Notification.user_id == user_id)
    if unread:
        own = own.where(Notification.read_at.is_(None))
    keys = (Notification.created_at, Notification.id)
    return paginate_by_time(session, own, keys, page=page, per_page=per_page, after=after)


def count_unread(session: Session, user_id: uuid.UUID) -> int:
    """Return the number of notifications that a person has not marked as read."""
    unread = Notification.user_id == user_id, Notification.read_at.is_(None)
    return session.scalar(select(func.count()).select_from(Notification).where(*unread)) or 0


def by_email(session: Session, user_id: uuid.UUID) -> Mapping[NotificationKind, bool]:
    """Return whether a person gets email, for each kind that people choose."""
    own = select(NotificationSetting).where(NotificationSetting.user_id == user_id)
    chosen = {row.kind: row.by_email for row in session.scalars(own)}
    return {kind: chosen.get(kind, True) for kind in EMAILED_BY_CHOICE}


def setting_of(session: Session, unsubscribe_token: str) -> NotificationSetting:
    """Return the setting that the link of an email is about.

    Raises:
        NotFoundError: there is no such link.
    """
    found = select(NotificationSetting).where(NotificationSetting.unsubscribe_token == unsubscribe_token)
    # PostgreSQL rejects some characters.
    if not unsubscribe_token.isprintable() or (setting := session.scalar(found)) is None:
        raise NotFoundError("This link is not valid. Sign in to choose what you get by email.")
    return setting
