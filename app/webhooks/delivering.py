"""Which delivery of a webhook is next, and what becomes of it. The worker calls this; `sending` sends.

The job of a webhook makes one attempt. After one that fails, the webhook waits, longer each time; then the delivery
with the fewest attempts is next, so that one that is always refused does not hold back the others.
"""

import uuid
from datetime import timedelta

from sqlalchemy import ColumnElement, and_, delete, select, update
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.database import now
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.jobs.service import Claim
from vocboard.app.webhooks.models import Event, Off, Webhook, WebhookDelivery
from vocboard.app.webhooks.sending import Answer

LIFETIME = timedelta(days=3)  # of an event that cannot be delivered
FIRST_RETRY_DELAY, MAX_RETRY_DELAY = timedelta(seconds=30), timedelta(minutes=30)
GONE = 410
_IS_PENDING = WebhookDelivery.ended_at.is_(None)


def add_jobs(session: Session) -> None:
    """Add jobs of webhooks that have something to deliver; a test does not wait for the next attempt."""
    pending = select(WebhookDelivery.webhook_id, Webhook.user_id).join(Webhook).where(_IS_PENDING).distinct()
    waits = Job.kind == Kind.WEBHOOK, Job.finished_at.is_(None), Job.lease_id.is_(None), Job.failure.is_not(None)
    tested = select(Job.key).join(WebhookDelivery, WebhookDelivery.webhook_id == Job.key)
    for webhook_id in session.scalars(
        tested.where(*waits, _IS_PENDING, WebhookDelivery.event == Event.TEST).distinct()
    ):
        jobs.add_again(session, Kind.WEBHOOK, webhook_id)
    jobs.add_all(session, Kind.WEBHOOK, [(row.webhook_id, row.user_id) for row in session.execute(pending)])


def next_of(session: Session, claim: Claim) -> tuple[Webhook, WebhookDelivery] | None:
    """Return the next delivery of the webhook of a job; without one, the job is finished.

    What is too old and was tried, or of a webhook that is off or whose person is disabled, is given up.

    Raises:
        LostClaimError: the claim has been lost.
    """
    row = session.execute(
        select(Webhook, User.disabled_at).join(User, User.id == Webhook.user_id).where(Webhook.id == claim.key)
    ).one_or_none()
    if row is not None:
        webhook = row.Webhook
        was_tried = WebhookDelivery.attempts > 0  # else no worker has run
        too_old = and_(_of(webhook.id), was_tried, WebhookDelivery.created_at <= now() - LIFETIME)
        if session.scalar(select(WebhookDelivery.id).where(too_old).limit(1)) is not None:
            webhook.off_because = webhook.off_because or Off.SILENT
        if row.disabled_at is not None:
            _give_up(session, _of(webhook.id))
        _give_up(session, too_old)
        if webhook.off_because is not None:
            _give_up(session, and_(_of(webhook.id), WebhookDelivery.event != Event.TEST))
        order = WebhookDelivery.attempts, WebhookDelivery.created_at, WebhookDelivery.id
        found = session.scalars(select(WebhookDelivery).where(_of(webhook.id)).order_by(*order).limit(1)).one_or_none()
        if found is not None:
            return webhook, found
    jobs.finish(session, claim)
    return None


def record(session: Session, claim: Claim, delivery: WebhookDelivery, answer: Answer) -> None:
    """Record an attempt.

    Raises:
        LostClaimError: the claim has been lost.
    """
    instant, is_test = now(), delivery.event == Event.TEST
    ended = {"ended_at": instant, "is_delivered": answer.is_success} if answer.is_success or is_test else {}
    attempt = {"attempts": WebhookDelivery.attempts + 1, "attempted_at": instant, "status": answer.status}
    one = update(WebhookDelivery).where(WebhookDelivery.id == delivery.id)
    session.execute(one.values(**attempt, error=answer.error or None, **ended))
    if answer.is_success and is_test:
        session.execute(update(Webhook).where(Webhook.id == claim.key).values(off_because=None))
    if answer.status == GONE:
        switch_off(session, claim.key, Off.GONE)
    waits = session.scalar(select(WebhookDelivery.id).where(_of(claim.key)).limit(1)) is not None
    if waits and not answer.is_success:
        jobs.retry(session, claim, after=retry_after(claim.attempt), failure="webhook")
        return
    jobs.finish(session, claim)
    if waits:
        jobs.add(session, Kind.WEBHOOK, claim.key, owner=claim.owner)


def switch_off(session: Session, webhook_id: uuid.UUID, why: Off) -> None:
    """Switch a webhook off, and give up what waits."""
    session.execute(update(Webhook).where(Webhook.id == webhook_id).values(off_because=why))
    _give_up(session, _of(webhook_id))


def retry_after(attempts: int) -> timedelta:
    """Return the delay after a number of failed attempts.

    >>> [retry_after(attempts).total_seconds() for attempts in (1, 2, 3, 6, 20)]
    [30.0, 60.0, 120.0, 960.0, 1800.0]
    """
    return min(FIRST_RETRY_DELAY * int(2 ** min(attempts - 1, 10)), MAX_RETRY_DELAY)


def remove_old(session: Session, *, kept_for: timedelta) -> None:
    """Delete deliveries that have ended long ago, and jobs that are done."""
    session.execute(delete(WebhookDelivery).where(WebhookDelivery.ended_at <= now() - kept_for))
    session.execute(delete(Job).where(Job.kind == Kind.WEBHOOK, Job.finished_at <= now() - jobs.KEPT))


def _of(webhook_id: uuid.UUID) -> ColumnElement[bool]:
    return and_(WebhookDelivery.webhook_id == webhook_id, _IS_PENDING)


def _give_up(session: Session, which: ColumnElement[bool]) -> None:
    session.execute(update(WebhookDelivery).where(which).values(ended_at=now()))
