"""Submissions in the queue: their jobs, and the states that people see.

`queued` and `evaluating` follow the job of a submission; `app.jobs.service` says which is next.
"""

import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, cast

from sqlalchemy import Select, exists, func, select, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session

from vocboard.app.database import now, server_time
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.jobs.service import Claim, LostClaimError
from vocboard.app.submissions import notices
from vocboard.app.submissions.models import State, Submission

UNFINISHED = (State.QUEUED, State.EVALUATING)
GIVEN_UP = (
    "The evaluation was interrupted several times. Your submission was not the cause and does not count against your "
    "quota."
)
WENT_SILENT = (
    "Each worker that evaluated it went silent: it was killed, ran out of memory, or its machine stopped. The operator "
    "finds more in the workers' logs."
)


def add(session: Session, submission: Submission) -> None:
    """Add the job of a queued submission."""
    jobs.add(session, Kind.EVALUATION, submission.id, owner=submission.user_id)


def remove(session: Session, submission: Submission) -> None:
    """Remove the job of a locked submission; a worker that is evaluating it can no longer store anything."""
    jobs.cancel(session, Kind.EVALUATION, [submission.id])


def begin(session: Session, claim: Claim) -> bool:
    """Mark the submission of a claimed job as being evaluated; False if it was withdrawn or disqualified."""
    return _change(session, claim, {"state": State.EVALUATING, "claimed_at": now()})


def finish(session: Session, claim: Claim) -> None:
    """Mark the submission as scored, and tell its owner.

    Raises:
        LostClaimError: nothing may be stored.
    """
    _end(session, claim, {"state": State.SCORED, "finished_at": now()})
    notices.scored(session, claim.key)


def fail(session: Session, claim: Claim, *, failure: str, detail: str) -> None:
    """Mark the submission as failed, so that it does not count against the quota, and tell its owner.

    Args:
        failure: message for the participant.
        detail: the technical reason, for organisers and the operator; never a hint of the ground truth.

    Raises:
        LostClaimError: nothing may be stored.
    """
    instant = now()
    failed = {"state": State.FAILED, "finished_at": instant, "quota_returned_at": instant}
    _end(session, claim, {**failed, "failure": failure, "failure_detail": detail})
    notices.failed(session, [claim.key])


def give_up(session: Session, claim: Claim) -> None:
    """Mark a submission as failed that has been interrupted too often."""
    fail(session, claim, failure=GIVEN_UP, detail=WENT_SILENT)


def put_back(session: Session, claim: Claim, *, after: timedelta = timedelta()) -> None:
    """Return the submission to the queue, as if it had not been claimed.

    Args:
        after: when it is due.

    Raises:
        LostClaimError: the claim has been lost.
    """
    _change(session, claim, {"state": State.QUEUED})
    jobs.release(session, claim, after=after)


def repair(session: Session) -> None:
    """Return submissions of dead workers to the queue, and add jobs that are missing."""
    is_running = exists().where(jobs.running(Kind.EVALUATION, server_time(session)), Job.key == Submission.id)
    silent = (
        select(Submission.id)
        .where(Submission.state == State.EVALUATING, ~is_running)
        # One that is being changed now can wait for the next time; waiting for it could end in a deadlock.
        .with_for_update(skip_locked=True)
    )
    session.execute(
        update(Submission)
        .where(Submission.id.in_(silent))
        .values(state=State.QUEUED)
        .execution_options(synchronize_session=False)
    )
    has_job = exists().where(Job.kind == Kind.EVALUATION, Job.key == Submission.id, Job.finished_at.is_(None))
    missing = select(Submission.id, Submission.user_id).where(Submission.state == State.QUEUED, ~has_job)
    rows = session.execute(missing.order_by(Submission.queued_at)).all()
    jobs.add_all(session, Kind.EVALUATION, [(row[0], row[1]) for row in rows])


def queue_position(session: Session, submission: Submission) -> int | None:
    """Return the submission's position in the queue, 1 for the next; None if it is not queued."""
    if submission.state != State.QUEUED:
        return None
    places = _places(session).subquery()
    return session.scalar(select(places.c.place).where(places.c.key == submission.id))


def places(session: Session, challenge_id: uuid.UUID, *, limit: int) -> Mapping[uuid.UUID, int]:
    """Return the positions in the queue of a challenge's queued submissions: the first `limit` of them."""
    ranked = _places(session).subquery()
    query = (
        select(ranked.c.key, ranked.c.place)
        .join(Submission, Submission.id == ranked.c.key)
        .where(Submission.challenge_id == challenge_id)
        .order_by(ranked.c.place)
        .limit(limit)
    )
    return {row[0]: row[1] for row in session.execute(query)}


def count(session: Session, state: State) -> int:
    """Return the number of submissions in a state."""
    return session.scalar(select(func.count()).select_from(Submission).where(Submission.state == state)) or 0


def _places(session: Session) -> Select[uuid.UUID, int]:
    """The places of the jobs that the next claims choose from, and of the others in the order in which these follow."""
    instant = server_time(session)
    order = jobs.fair_order(Kind.EVALUATION, instant, jobs.waiting(instant))
    nearly = func.row_number().over(order_by=jobs.IN_TURN)
    first = select(order.c.id, func.row_number().over(order_by=jobs.by_turn(order)).label("place")).subquery()
    return (
        select(Job.key, func.coalesce(first.c.place, nearly).label("place"))
        .outerjoin(first, first.c.id == Job.id)
        .where(Job.kind == Kind.EVALUATION, jobs.waiting(instant))
    )


def _end(session: Session, claim: Claim, values: Mapping[str, object]) -> None:
    if not _change(session, claim, values):
        raise LostClaimError
    jobs.finish(session, claim)


def _change(session: Session, claim: Claim, values: Mapping[str, Any]) -> bool:
    changing = update(Submission).where(Submission.id == claim.key, Submission.state.in_(UNFINISHED)).values(**values)
    result = session.execute(changing.execution_options(synchronize_session=False))
    return cast(CursorResult[Any], result).rowcount > 0
