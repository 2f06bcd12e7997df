"""The queue of submissions, which are leased to workers.

The next submission is from the person with the fewest running submissions; among these, from the one who was served
least recently (never counts as longest ago); and of that person, the earliest. So one person's fifty uploads do not
block others, with any number of workers.
"""

import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import CTE, ColumnElement, func, select
from sqlalchemy.orm import Session

from vocboard.app.database import now
from vocboard.app.submissions.models import State, Submission
from vocboard.app.work_queues.leased_queue import Released
from vocboard.app.work_queues.state_queue import Claim, StateQueue

_CLAIMED_AT_ONCE = 100  # more workers do not claim within the same few milliseconds

GIVEN_UP = (
    "The evaluation was interrupted several times. Your submission was not the cause and does not count against your "
    "quota."
)
WENT_SILENT = (
    "Each worker that evaluated it went silent: it was killed, ran out of memory, or its machine stopped. The operator "
    "finds more in the workers' logs."
)

_queue = StateQueue(Submission, waiting=State.QUEUED, running=State.EVALUATING)
renew, put_back, hold, has_expired = _queue.renew, _queue.give_back, _queue.hold, _queue.has_expired
waiting, running = _queue.waiting, _queue.running


def claim(session: Session, *, lease: timedelta) -> Claim | None:
    """Take the next submission for as long as `lease`; None if nobody waits."""
    # Only the first few: locking these rows is fast, but locking hundreds of queued rows takes tens of ms.
    order = _fair_order()
    first = order.select().order_by(*_by_turn(order)).limit(_CLAIMED_AT_ONCE).cte("first")
    chosen = (
        select(Submission.id)
        .join(first, first.c.id == Submission.id)
        .where(_queue.is_waiting)
        .order_by(*_by_turn(first))
        .limit(1)
        .with_for_update(of=Submission, skip_locked=True)
        .scalar_subquery()
    )
    return _queue.claim(session, chosen=chosen, lease=lease, claimed_at=now())


def finish(session: Session, claim: Claim) -> bool:
    """Mark the submission as scored; False if the claim has been lost and nothing may be stored."""
    return _queue.finish(session, claim, {"state": State.SCORED, "finished_at": now()})


def fail(session: Session, claim: Claim, *, failure: str, detail: str) -> bool:
    """Mark the submission as failed, so that it does not count against the quota; False if the claim has been lost.

    Args:
        failure: message for the participant.
        detail: the technical reason, for organisers and the operator; never a hint of the ground truth.
    """
    return _queue.finish(session, claim, {"failure_detail": detail, **_failed(failure)})


def release_expired(session: Session, *, attempts: int) -> Released:
    """Return submissions with expired leases to the queue, or fail them after too many attempts."""
    given_up = {"failure_detail": WENT_SILENT, **_failed(GIVEN_UP)}
    return _queue.release_expired(session, attempts=attempts, given_up=given_up)


def queue_position(session: Session, submission: Submission) -> int | None:
    """Return the submission's position in the queue, 1 for the next; None if it is not queued."""
    if submission.state != State.QUEUED:
        return None
    order = _fair_order()
    place = func.row_number().over(order_by=_by_turn(order)).label("place")
    places = select(order.c.id, place).subquery()
    return session.scalar(select(places.c.place).where(places.c.id == submission.id))


def places(session: Session, challenge_id: uuid.UUID, *, limit: int) -> Mapping[uuid.UUID, int]:
    """Return the positions in the queue of a challenge's queued submissions: the first `limit` of them."""
    order = _fair_order()
    place = func.row_number().over(order_by=_by_turn(order)).label("place")
    ranked = select(order.c.id, place).subquery()
    query = (
        select(ranked.c.id, ranked.c.place)
        .join(Submission, Submission.id == ranked.c.id)
        .where(Submission.challenge_id == challenge_id)
        .order_by(ranked.c.place)
        .limit(limit)
    )
    return {row[0]: row[1] for row in session.execute(query)}


def _failed(failure: str) -> Mapping[str, object]:
    instant = now()
    return {"state": State.FAILED, "failure": failure, "finished_at": instant, "quota_returned_at": instant}


def _fair_order() -> CTE:
    """Return a query of queued submissions with the values that determine their order."""
    is_waiting = Submission.state == State.QUEUED
    people = (
        select(
            Submission.user_id,
            func.count().filter(Submission.state == State.EVALUATING).label("running"),
            func.max(Submission.claimed_at).label("served_at"),
        )
        .where(Submission.user_id.in_(select(Submission.user_id).where(is_waiting)))
        .group_by(Submission.user_id)
        .cte("people")
    )
    place_of_own = func.row_number().over(
        partition_by=Submission.user_id, order_by=(Submission.queued_at, Submission.id)
    )
    return (
        select(Submission.id, Submission.queued_at, people.c.served_at, (people.c.running + place_of_own).label("turn"))
        .join(people, people.c.user_id == Submission.user_id)
        .where(is_waiting)
        .cte("fair_order")
    )


def _by_turn(order: CTE) -> tuple[ColumnElement[Any], ...]:
    return order.c.turn, order.c.served_at.asc().nulls_first(), order.c.queued_at, order.c.id
