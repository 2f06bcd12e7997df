"""Email that could not be sent: what, to whom, why; and sending again what was rejected."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from vocboard.app.audit import service as audit
from vocboard.app.audit.service import Actor
from vocboard.app.database import now
from vocboard.app.errors import ConflictError
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.messaging.models import OutgoingMail
from vocboard.app.messaging.outbox import MailFailure
from vocboard.app.paging import PER_PAGE, Page

MAX_RETRIED = 1000  # at once

_HAS_FAILED = and_(Job.kind == Kind.MAIL, Job.failure.is_not(None))


@dataclass(frozen=True, slots=True)
class Undelivered:
    """A message that could not be sent, without its text.

    Attributes:
        failure: why the last attempt has failed.
        error: the mail server's answer.
        next_attempt_at: None if it is given up.
        can_be_retried: whether it is given up and not too old: it still has its text.
    """

    id: uuid.UUID
    created_at: datetime
    recipient: str
    subject: str
    failure: MailFailure
    error: str | None
    attempts: int
    next_attempt_at: datetime | None
    can_be_retried: bool


def page_of(
    session: Session, *, recipient: str | None = None, page: int = 1, per_page: int = PER_PAGE
) -> Page[Undelivered]:
    """Return a page of the messages that could not be sent, the latest first.

    Args:
        recipient: to this address alone.
    """
    messages = select(Job).join(OutgoingMail, OutgoingMail.id == Job.key).where(_HAS_FAILED)
    if recipient is not None:
        messages = messages.where(OutgoingMail.recipient == recipient)
    total = session.scalar(messages.with_only_columns(func.count())) or 0
    page = min(max(page, 1), max(1, -(-total // per_page)))
    columns = (
        OutgoingMail.id,
        OutgoingMail.created_at,
        OutgoingMail.recipient,
        OutgoingMail.subject,
        OutgoingMail.expires_at,
        OutgoingMail.error,
        Job.failure,
        Job.attempts,
        Job.not_before,
        Job.finished_at,
    )
    latest = messages.with_only_columns(*columns).order_by(Job.created_at.desc(), Job.id)
    rows = session.execute(latest.limit(per_page).offset((page - 1) * per_page)).all()
    items = (
        Undelivered(
            id=row.id,
            created_at=row.created_at,
            recipient=row.recipient,
            subject=row.subject,
            failure=MailFailure(row.failure),
            error=row.error,
            attempts=row.attempts,
            next_attempt_at=row.not_before if row.finished_at is None else None,
            can_be_retried=row.failure == MailFailure.REJECTED and row.expires_at > now(),
        )
        for row in rows
    )
    return Page(tuple(items), page, per_page, total)


def retriable(session: Session) -> int:
    """Return how many messages `retry_all` would send again."""
    return len(_retriable(session))


def retry(session: Session, *, message_id: uuid.UUID, actor: Actor | None = None) -> None:
    """Let a message that was rejected be sent again.

    Raises:
        ConflictError: there is none with this id, or it is too old.
    """
    found = dict(_retriable(session, message_id))
    if not found:
        raise ConflictError("This email was sent, or is too old to be sent again.")
    jobs.retry_failed(session, Kind.MAIL, [message_id])
    details = {"recipient": found[message_id]}
    audit.record(session, actor=actor, action="mail.retry", subject=audit.Row("outbox", message_id), details=details)


def retry_all(session: Session, *, actor: Actor | None = None) -> int:
    """Let all messages that were rejected and are not too old be sent again, at most `MAX_RETRIED`; return how many."""
    found = [message_id for message_id, _ in _retriable(session)]
    if found:
        jobs.retry_failed(session, Kind.MAIL, found)
        details = {"count": len(found)}
        audit.record(session, actor=actor, action="mail.retry", subject=audit.Row("outbox"), details=details)
    return len(found)


def _retriable(session: Session, message_id: uuid.UUID | None = None) -> Sequence[tuple[uuid.UUID, str]]:
    query = (
        select(OutgoingMail.id, OutgoingMail.recipient)
        .join(Job, Job.key == OutgoingMail.id)
        .where(_HAS_FAILED, Job.failure == MailFailure.REJECTED, OutgoingMail.expires_at > now())
        .order_by(Job.created_at)
        .limit(MAX_RETRIED)
    )
    if message_id is not None:
        query = query.where(OutgoingMail.id == message_id)
    return [(row.id, row.recipient) for row in session.execute(query)]
