"""Telling people: a row for the site, in the transaction of the event. `emails` makes email of it later."""

import uuid
from collections.abc import Iterable
from typing import Any

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from vocboard.app.database import now
from vocboard.app.notifications.models import ALWAYS_EMAILED, Notification, NotificationKind

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
        once_key: who has been told something under this key is not told again.
    """
    instant = now()
    same = {
        "created_at": instant,
        "kind": kind,
        "challenge_id": challenge_id,
        "title": title if len(title) <= MAX_LENGTH else title[: MAX_LENGTH - 1] + "…",
        "text": text,
        "link": link[:MAX_LENGTH],
        "once_key": once_key,
        "mailed_at": instant if kind in ALWAYS_EMAILED else None,
    }
    if rows := [{"id": uuid.uuid4(), "user_id": user_id, **same} for user_id in dict.fromkeys(user_ids)]:
        session.execute(_insert(session).on_conflict_do_nothing(), rows)


def _insert(session: Session) -> Any:
    return (sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert)(Notification)
