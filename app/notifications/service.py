"""Telling people: a row for the site, in the transaction of the event. `emails` makes email of it later."""

import uuid
from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import update
from sqlalchemy.orm import Session

from vocboard.app.accounts.secret_tokens import new_secret
from vocboard.app.database import insert_into, now
from vocboard.app.errors import InvalidInputError
from vocboard.app.notifications import queries
from vocboard.app.notifications.models import ALWAYS_EMAILED, Notification, NotificationKind, NotificationSetting

MAX_LENGTH = 500  # characters of titles and links


def notify(
    session: Session,
    user_ids: Iterable[uuid.UUID],
    kind: NotificationKind,
    *,
    title: str,
    link: str,
    text: str = "",
    challenge_id: uuid.UUID | None = None,
    about_id: uuid.UUID | None = None,
    once_key: str | None = None,
) -> None:
    """Tell people about an event, in its transaction.

    The email follows within some minutes, together with others of the same kind to the same person, if the person
    wants emails of this kind. For kinds in `ALWAYS_EMAILED`, the caller adds the email itself (`outbox.put`).

    Any process may call this: it needs no access to people or addresses.

    Args:
        user_ids: whom. Repeated ids count once.
        title: one sentence in plain text, with what it is about; also the subject of the email. A long one is cut.
        link: path of the page about it, such as `/challenges/voc/announcements`.
        text: further plain text.
        challenge_id: if it is about one; it is deleted with the challenge.
        about_id: whom it names; it is deleted with that person's account.
        once_key: who has been told something under this key is not told again.
    """
    instant = now()
    same = {
        "created_at": instant,
        "kind": kind,
        "challenge_id": challenge_id,
        "about_id": about_id,
        "title": title if len(title) <= MAX_LENGTH else title[: MAX_LENGTH - 1] + "…",
        "text": text,
        "link": link[:MAX_LENGTH],
        "once_key": once_key,
        "mailed_at": instant if kind in ALWAYS_EMAILED else None,
    }
    if rows := [{"id": uuid.uuid4(), "user_id": user_id, **same} for user_id in dict.fromkeys(user_ids)]:
        session.execute(insert_into(session, Notification).on_conflict_do_nothing(), rows)


def mark_read(session: Session, user_id: uuid.UUID, ids: Collection[uuid.UUID] | None = None) -> None:
    """Mark notifications of a person as read; by default all. Those of others are left alone."""
    unread = [Notification.user_id == user_id, Notification.read_at.is_(None)]
    if ids is not None:
        unread.append(Notification.id.in_(ids))
    session.execute(
        update(Notification).where(*unread).values(read_at=now()).execution_options(synchronize_session=False)
    )


def choose_emails(session: Session, user_id: uuid.UUID, chosen: Mapping[NotificationKind, bool]) -> None:
    """Set whether a person gets email of kinds; those left out stay.

    Raises:
        InvalidInputError: people cannot choose a kind.
    """
    if fixed := [kind.value for kind in chosen if kind in ALWAYS_EMAILED]:
        raise InvalidInputError(dict.fromkeys(fixed, "This is always sent by email."))
    for kind, by_email in sorted(chosen.items()):  # in the order of `emails.put_due`
        row = {"user_id": user_id, "kind": kind, "by_email": by_email, "unsubscribe_token": new_secret()}
        adding = insert_into(session, NotificationSetting).values(row)
        changing = {"index_elements": ["user_id", "kind"], "set_": {"by_email": by_email}}
        session.execute(adding.on_conflict_do_update(**changing))


def unsubscribe(session: Session, unsubscribe_token: str) -> NotificationKind:
    """Stop email of the kind and to the person that a link of an email is about, and return the kind. Idempotent.

    Raises:
        NotFoundError: there is no such link.
    """
    setting = queries.setting_of(session, unsubscribe_token)
    setting.by_email = False
    return setting.kind
