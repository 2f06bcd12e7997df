"""The outbox as a queue of email.

The database is the queue; the broker only wakes the worker. A message is sent at least once: if a worker dies between
the mail server's response and its own commit, the message is sent again with the same Message-ID.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy import ColumnElement, and_, delete, or_, select, update
from sqlalchemy.orm import Session

from vocboard.app.database import now
from vocboard.app.messaging.models import OutgoingMail

TEMPLATE_DIRECTORY = Path(__file__).parents[2] / "templates"
LIFETIME = timedelta(days=3)  # maximum age of a message that cannot be sent
LEASE = timedelta(minutes=5)  # longer than an attempt can take
FIRST_RETRY_DELAY, MAX_RETRY_DELAY = timedelta(seconds=15), timedelta(minutes=10)
RECORD_LIFETIME = timedelta(days=30)  # how long rows of sent and failed messages are kept
MAX_ERROR_LENGTH = 500


@dataclass(frozen=True, slots=True)
class Claimed:
    """A message claimed by this worker until its lease ends.

    Attributes:
        attempts: number of attempts, including this one.
    """

    id: uuid.UUID
    created_at: datetime
    recipient: str
    subject: str
    body: str
    attempts: int


def put(session: Session, *, to: str, template: str, lifetime: timedelta = LIFETIME, **context: Any) -> None:
    """Add a message to the outbox, in the transaction of the event that it announces.

    After the commit, the caller calls `WorkerNotifier.mail_queued`.

    Args:
        to: a normalised email address.
        template: name of a file in `templates/mail`: the subject, an empty line, and the body.
        lifetime: time after which the message is no longer sent.
        context: variables of the template.
    """
    subject, _, body = _templates().get_template(f"mail/{template}.txt").render(**context).partition("\n")
    instant = now()
    session.add(
        OutgoingMail(
            created_at=instant,
            recipient=to,
            subject=subject.strip(),
            body=body.strip() + "\n",
            due_at=instant,
            expires_at=instant + lifetime,
        )
    )
    session.flush()


def is_due(session: Session) -> bool:
    """Whether `claim_next` would return a message."""
    return session.scalar(select(OutgoingMail.id).where(_is_due(now())).limit(1)) is not None


def is_stuck(session: Session, *, since: datetime, has_worker: bool) -> bool:
    """Whether a message waits that could have been sent before an instant. The web process may ask, for `/readyz`.

    Args:
        has_worker: whether a mail worker has reached the mail server since: then retries may wait for one recipient.
    """
    is_waiting = _is_due(since)
    if not has_worker:
        is_unsent = and_(OutgoingMail.sent_at.is_(None), OutgoingMail.failed_at.is_(None))
        is_waiting = or_(is_waiting, and_(is_unsent, OutgoingMail.created_at <= since))
    return session.scalar(select(OutgoingMail.due_at).where(is_waiting).limit(1)) is not None


def claim_next(session: Session) -> Claimed | None:
    """Claim the message that was due first; None if none is due."""
    instant = now()
    row = session.scalar(
        select(OutgoingMail)
        .where(_is_due(instant))
        .order_by(OutgoingMail.due_at, OutgoingMail.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    if row is None:
        return None
    row.due_at = instant + LEASE
    row.attempts += 1
    return Claimed(row.id, row.created_at, row.recipient, row.subject, row.body, row.attempts)


def expire(session: Session) -> int:
    """Mark expired messages as failed, and delete old rows; return the number of failed messages."""
    instant = now()
    expired = session.scalars(
        select(OutgoingMail).where(
            OutgoingMail.sent_at.is_(None),
            OutgoingMail.failed_at.is_(None),
            OutgoingMail.expires_at <= instant,
            OutgoingMail.due_at <= instant,  # otherwise a worker is sending it, or a retry is due first
        )
    ).all()
    for row in expired:
        row.failed_at, row.body = instant, ""
    forgotten = instant - RECORD_LIFETIME
    session.execute(
        delete(OutgoingMail).where(or_(OutgoingMail.sent_at <= forgotten, OutgoingMail.failed_at <= forgotten))
    )
    return len(expired)


def mark_sent(session: Session, message: Claimed) -> None:
    """Record that a message was sent."""
    session.execute(
        update(OutgoingMail).where(OutgoingMail.id == message.id).values(sent_at=now(), body="", last_error="")
    )


def mark_failed(session: Session, message: Claimed, error: str, *, is_final: bool) -> None:
    """Record a failed attempt: schedule a retry, or mark the message as failed if the error is permanent."""
    instant = now()
    values: dict[str, Any] = {"last_error": error[:MAX_ERROR_LENGTH], "due_at": instant + retry_after(message.attempts)}
    if is_final:
        values |= {"failed_at": instant, "body": ""}
    session.execute(update(OutgoingMail).where(OutgoingMail.id == message.id).values(**values))


def retry_after(attempts: int) -> timedelta:
    """Return the delay after a number of failed attempts.

    >>> [retry_after(attempts).total_seconds() for attempts in (1, 2, 3, 20)]
    [15.0, 30.0, 60.0, 600.0]
    """
    doublings = min(attempts - 1, 10)
    return min(FIRST_RETRY_DELAY * int(2**doublings), MAX_RETRY_DELAY)


def _is_due(instant: datetime) -> ColumnElement[bool]:
    return and_(OutgoingMail.sent_at.is_(None), OutgoingMail.failed_at.is_(None), OutgoingMail.due_at <= instant)


@cache
def _templates() -> Environment:
    return Environment(  # plain text: nothing to escape
        loader=FileSystemLoader(TEMPLATE_DIRECTORY),
        autoescape=False,  # noqa: S701
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
