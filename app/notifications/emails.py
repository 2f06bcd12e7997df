"""Makes emails of notifications: one for each person and kind, of what has come together in some minutes.

A notification is marked in the transaction that adds its email to the outbox, so none is lost or mailed twice.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.database import insert_into, now
from vocboard.app.messaging import outbox
from vocboard.app.notifications.models import Notification, NotificationKind, NotificationSetting

DELAY = timedelta(minutes=5)  # what a person is told within this time comes in one email of each kind
RECORD_LIFETIME = timedelta(days=180)  # how long notifications are kept
PEOPLE_AT_ONCE = 200  # in a transaction
MAX_LISTED = 50  # notifications in an email
# Why a person gets emails of a kind.
REASONS = {
    NotificationKind.SCORED: "you have submitted results",
    NotificationKind.FAILED: "you have submitted results",
    NotificationKind.CORRECTED: "you have submitted results",
    NotificationKind.PUBLISHED: "you are a member of the team",
    NotificationKind.DEADLINE: "you take part in the challenge",
    NotificationKind.ANNOUNCEMENT: "you take part in the challenge or were admitted to it",
    NotificationKind.QUESTION: "you organise the challenge",
    NotificationKind.ANSWER: "you have asked the organisers",
    NotificationKind.ADMISSION: "you organise the challenge, or have asked to take part in it",
    NotificationKind.TEAM: "you are, or were, a member of the team",
}


def put_due(session: Session, *, site: str) -> bool:
    """Add the emails of what some people are to be told now; whether there may be more people.

    Args:
        site: its address, for links.
    """
    due = select(Notification.user_id).where(Notification.mailed_at.is_(None), Notification.created_at <= now() - DELAY)
    people = list(session.scalars(due.distinct().limit(PEOPLE_AT_ONCE)))
    rows = session.scalars(
        select(Notification)
        .where(Notification.user_id.in_(people), Notification.mailed_at.is_(None))
        .order_by(Notification.created_at, Notification.id)
        .with_for_update()
    )
    addresses = _addresses(session, people)
    found: defaultdict[tuple[uuid.UUID, NotificationKind], list[Notification]] = defaultdict(list)
    for row in rows:
        row.mailed_at = now()
        if row.user_id in addresses:
            found[row.user_id, row.kind].append(row)
    # The people may be choosing at the same time.
    if settings := [{"user_id": user_id, "kind": kind} for user_id, kind in sorted(found)]:
        session.execute(insert_into(session, NotificationSetting).on_conflict_do_nothing(), settings)
    for setting in session.scalars(select(NotificationSetting).where(NotificationSetting.user_id.in_(people))):
        if setting.by_email and (told := found.get((setting.user_id, setting.kind))):
            _put(session, addresses[setting.user_id], told, setting, site)
    return len(people) == PEOPLE_AT_ONCE


def remove_old(session: Session) -> None:
    """Delete notifications that are old."""
    session.execute(delete(Notification).where(Notification.created_at <= now() - RECORD_LIFETIME))


def _addresses(session: Session, people: Collection[uuid.UUID]) -> Mapping[uuid.UUID, str]:
    """Return the addresses of those who get email: the address must be known to be the person's."""
    reached = User.id.in_(people), User.email_confirmed_at.is_not(None), User.disabled_at.is_(None)
    return {row.id: row.email for row in session.execute(select(User.id, User.email).where(*reached))}


def _put(session: Session, address: str, told: Sequence[Notification], setting: NotificationSetting, site: str) -> None:
    stop = f"{site}/unsubscribe?token={setting.unsubscribe_token}"
    outbox.put(
        session,
        to=address,
        template="notifications",
        unsubscribe_url=stop,
        told=told[:MAX_LISTED],
        more=len(told) - MAX_LISTED,
        count=len(told),
        reason=REASONS[setting.kind],
        stop=stop,
        site=site,
    )
