"""The outbox of email: adding messages, each with its job, and recording what became of them."""

import uuid
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy import and_, delete, func, or_, select, update
from sqlalchemy.orm import Session

from vocboard.app.database import now
from vocboard.app.forms import has_words
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.jobs.service import Claim
from vocboard.app.messaging.models import OutgoingMail

TEMPLATE_DIRECTORY = Path(__file__).parents[2] / "templates"
LIFETIME = timedelta(days=3)  # maximum age of a message that cannot be sent
FIRST_RETRY_DELAY, MAX_RETRY_DELAY = timedelta(seconds=15), timedelta(minutes=10)
RECORD_LIFETIME = timedelta(days=30)  # how long rows of sent and failed messages are kept
MAX_ERROR_LENGTH = 500
MAX_SUBJECT_LENGTH = 200


class MailFailure(StrEnum):
    """Why a message has failed, or, if its job is pending, why the last attempt has (`Job.failure`)."""

    REJECTED = "rejected"  # permanently, by the mail server
    EXPIRED = "expired"
    DEFERRED = "deferred"  # the mail server may take other messages
    MAIL_SERVER = "mail_server"  # it cannot be reached, or takes no messages


def put(
    session: Session,
    *,
    to: str,
    template: str,
    lifetime: timedelta = LIFETIME,
    unsubscribe_url: str | None = None,
    **context: Any,
) -> None:
    """Add a message to the outbox, in the transaction of the event that it announces.

    Args:
        to: a normalised email address.
        template: name of a file in `templates/mail`: the subject, an empty line, and the body.
        lifetime: time after which the message is no longer sent.
        unsubscribe_url: where one POST stops email like this (RFC 8058); None for email that everybody gets.
        context: variables of the template.
    """
    subject, _, body = _templates().get_template(f"mail/{template}.txt").render(**context).partition("\n")
    message = OutgoingMail(
        id=uuid.uuid4(),
        recipient=to,
        subject=subject.strip()[:MAX_SUBJECT_LENGTH],
        body=body.strip() + "\n",
        expires_at=now() + lifetime,
        unsubscribe_url=unsubscribe_url,
    )
    session.add(message)
    session.flush()
    jobs.add(session, Kind.MAIL, message.id)


def get(session: Session, claim: Claim) -> OutgoingMail | None:
    """Return the message of a job."""
    return session.get(OutgoingMail, claim.key)


def finish(session: Session, claim: Claim, *, failure: MailFailure | None = None, error: str | None = None) -> None:
    """Record that a message was sent, or has failed. One that was rejected keeps its text, to be sent again.

    Args:
        error: the mail server's answer, if it was rejected.

    Raises:
        LostClaimError: the claim has been lost.
    """
    of_job = OutgoingMail.id == claim.key
    session.execute(delete(OutgoingMail).where(of_job, OutgoingMail.is_forgotten))
    changed = {"error": _shortened(error)} if failure is MailFailure.REJECTED else {"body": ""}
    session.execute(update(OutgoingMail).where(of_job).values(changed))
    jobs.finish(session, claim, failure=failure)


def retry(session: Session, claim: Claim, *, failure: MailFailure, error: str) -> None:
    """Record a failed attempt, and when the next is due. Without a mail server, no other message is tried before.

    Raises:
        LostClaimError: the claim has been lost.
    """
    session.execute(update(OutgoingMail).where(OutgoingMail.id == claim.key).values(error=_shortened(error)))
    jobs.retry(session, claim, after=retry_after(claim.attempt), failure=failure)
    if failure is MailFailure.MAIL_SERVER:
        jobs.postpone(session, Kind.MAIL, by=FIRST_RETRY_DELAY)


def retry_after(attempts: int) -> timedelta:
    """Return the delay after a number of failed attempts.

    >>> [retry_after(attempts).total_seconds() for attempts in (1, 2, 3, 20)]
    [15.0, 30.0, 60.0, 600.0]
    """
    doublings = min(attempts - 1, 10)
    return min(FIRST_RETRY_DELAY * int(2**doublings), MAX_RETRY_DELAY)


def is_stuck(session: Session, *, since: datetime) -> bool:
    """Whether a message was due before an instant, or waits since then for a mail server that cannot be reached.

    The web process may ask, for `/readyz`.
    """
    of_mail = Job.kind == Kind.MAIL
    sent_at = select(func.max(Job.finished_at)).where(of_mail, Job.failure.is_(None)).scalar_subquery()
    has_no_server = and_(
        Job.failure == MailFailure.MAIL_SERVER,
        Job.created_at <= since,
        or_(sent_at.is_(None), sent_at < Job.claimed_at),
    )
    waiting = select(Job.id).where(of_mail, Job.finished_at.is_(None), or_(Job.not_before <= since, has_no_server))
    return session.scalar(waiting.limit(1)) is not None


def forget(session: Session, *, email: str, name: str) -> None:
    """Delete what was mailed to a deleted account, and messages with the name in the subject; the rest once it is sent.

    Args:
        email: the address of the account.
        name: the person's, which may be a part of other words.
    """
    subjects = select(OutgoingMail.id, OutgoingMail.subject).where(OutgoingMail.subject.contains(name, autoescape=True))
    named = [message_id for message_id, subject in session.execute(subjects) if has_words(subject, name)]
    about = or_(OutgoingMail.recipient == email, OutgoingMail.id.in_(named))
    is_over = OutgoingMail.id.in_(select(Job.key).where(Job.kind == Kind.MAIL, Job.finished_at.is_not(None)))
    for statement in (
        delete(OutgoingMail).where(about, is_over),
        update(OutgoingMail).where(about).values(is_forgotten=True),
    ):
        session.execute(statement.execution_options(synchronize_session=False))


def remove_old(session: Session) -> None:
    """Delete messages that were sent or have failed long ago, with their jobs, and texts that are too old to send."""
    too_old = OutgoingMail.expires_at <= now(), OutgoingMail.body != ""
    session.execute(update(OutgoingMail).where(*too_old).values(body=""))
    old = Job.kind == Kind.MAIL, Job.finished_at <= now() - RECORD_LIFETIME
    session.execute(delete(OutgoingMail).where(OutgoingMail.id.in_(select(Job.key).where(*old))))
    session.execute(delete(Job).where(*old))


def _shortened(error: str | None) -> str | None:
    return error and error[:MAX_ERROR_LENGTH]


@cache
def _templates() -> Environment:
    return Environment(  # plain text: nothing to escape
        loader=FileSystemLoader(TEMPLATE_DIRECTORY),
        autoescape=False,  # noqa: S701
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
