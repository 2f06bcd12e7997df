"""The queue of evaluations whose errors are to be diagnosed. A worker claims one evaluation with a lease.

Each evaluation has a row until its diagnosis is stored. Only the current evaluation of a submission is diagnosed, so a
re-score that is discarded costs nothing; it waits while anything else does.
"""

import uuid
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import and_, delete, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from vocboard.app.evaluations.models import DiagnosisTask, Evaluation
from vocboard.app.statistics.queue import must_wait
from vocboard.app.submissions.models import State, Submission
from vocboard.app.work_queues.leased_queue import LeasedQueue

INTERRUPTED = "The diagnosis stopped the worker several times."


@dataclass(frozen=True, slots=True)
class DiagnosisClaim:
    """A worker's claim on an evaluation."""

    evaluation_id: uuid.UUID
    lease_id: uuid.UUID


# By way of the evaluation, to find the submission by its key: there is no index on `current_evaluation_id`.
_evaluation = aliased(Evaluation)
_is_current = exists().where(
    _evaluation.id == DiagnosisTask.evaluation_id,
    Submission.id == _evaluation.submission_id,
    Submission.current_evaluation_id == _evaluation.id,
    Submission.state.in_((State.SCORED, State.DISQUALIFIED)),
)
_queue: LeasedQueue[DiagnosisClaim] = LeasedQueue(
    DiagnosisTask,
    is_waiting=and_(DiagnosisTask.lease_id.is_(None), DiagnosisTask.failure.is_(None), _is_current),
    is_claimed=DiagnosisTask.lease_id.is_not(None),
    rows_of=lambda claim: DiagnosisTask.evaluation_id == claim.evaluation_id,
)


def due(session: Session, evaluator_version: str) -> int:
    """Return the number of evaluations to diagnose now: none while submissions or re-scores wait."""
    if must_wait(session, evaluator_version):
        return 0
    is_due = or_(_queue.is_waiting, _queue.is_expired())
    return session.scalar(select(func.count()).select_from(DiagnosisTask).where(is_due)) or 0


def claim(session: Session, *, lease: timedelta, attempts: int) -> DiagnosisClaim | None:
    """Claim the newest evaluation; None if none is waiting. What has stopped workers `attempts` times is given up."""
    _queue.release_expired(session, attempts=attempts, given_up={"failure": INTERRUPTED})
    chosen = session.scalar(
        select(DiagnosisTask.evaluation_id)
        .join(Evaluation, Evaluation.id == DiagnosisTask.evaluation_id)
        .where(_queue.is_waiting)
        .order_by(Evaluation.created_at.desc(), Evaluation.id)
        .limit(1)
        .with_for_update(of=DiagnosisTask, skip_locked=True)
    )
    if chosen is None:
        return None
    lease_id = _queue.claim_rows(session, DiagnosisTask.evaluation_id == chosen, lease=lease)
    return None if lease_id is None else DiagnosisClaim(chosen, lease_id)


def renew(session: Session, claim: DiagnosisClaim, *, lease: timedelta) -> bool:
    """Renew a lease; False if it is no longer held."""
    return _queue.renew(session, claim, lease=lease)


def is_held(session: Session, claim: DiagnosisClaim) -> bool:
    """Whether a diagnosis may be stored; the claim cannot be lost before the end of the transaction."""
    query = select(DiagnosisTask.evaluation_id).where(_queue.is_claimed_by(claim)).with_for_update()
    return session.scalar(query) is not None


def finish(session: Session, claim: DiagnosisClaim) -> None:
    """Take an evaluation whose diagnosis is stored from the queue."""
    done = delete(DiagnosisTask).where(_queue.is_claimed_by(claim))
    session.execute(done.execution_options(synchronize_session=False))


def fail(session: Session, claim: DiagnosisClaim, failure: str) -> None:
    """Record why an evaluation cannot be diagnosed, for the operator. It is not tried again."""
    _queue.finish(session, claim, {"failure": failure})
