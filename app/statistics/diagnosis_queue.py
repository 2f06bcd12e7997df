"""The queue of evaluations whose errors are to be diagnosed. A worker claims one evaluation with a lease.

Each evaluation has a row until its diagnosis is stored. Only the current evaluation of a submission is diagnosed, so a
re-score that is discarded costs nothing; it waits while anything else does.
"""

import uuid
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import and_, delete, exists, func, insert, or_, select
from sqlalchemy.orm import Session, aliased

from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now
from vocboard.app.evaluations.diagnosis_failures import DiagnosisFailure
from vocboard.app.evaluations.diagnosis_tasks import has_failed
from vocboard.app.evaluations.models import CompetitionResult, DiagnosisShares, DiagnosisTask, Evaluation
from vocboard.app.statistics.queue import must_wait
from vocboard.app.submissions.models import State, Submission
from vocboard.app.work_queues.leased_queue import LeasedQueue


@dataclass(frozen=True, slots=True)
class DiagnosisClaim:
    """A worker's claim on an evaluation."""

    evaluation_id: uuid.UUID
    lease_id: uuid.UUID


# By way of the evaluation, to find the submission by its key: there is no index on `current_evaluation_id`.
_evaluation = aliased(Evaluation)
_is_wanted = exists().where(
    _evaluation.id == DiagnosisTask.evaluation_id,
    Submission.id == _evaluation.submission_id,
    Submission.current_evaluation_id == _evaluation.id,
    Submission.state.in_((State.SCORED, State.DISQUALIFIED)),
    Challenge.id == Submission.challenge_id,
    ~has_failed(),
)
_NOT_FAILED = {"failure": None, "failed_at": None, "failure_detail": None}
_queue: LeasedQueue[DiagnosisClaim] = LeasedQueue(
    DiagnosisTask,
    is_waiting=and_(DiagnosisTask.lease_id.is_(None), _is_wanted),
    is_claimed=DiagnosisTask.lease_id.is_not(None),
    rows_of=lambda claim: DiagnosisTask.evaluation_id == claim.evaluation_id,
    claimed=_NOT_FAILED,
    returned=_NOT_FAILED,
)


def due(session: Session, evaluator_version: str) -> int:
    """Return the number of evaluations to diagnose now: none while submissions or re-scores wait."""
    if must_wait(session, evaluator_version):
        return 0
    is_due = or_(_queue.is_waiting, _queue.is_expired())
    return session.scalar(select(func.count()).select_from(DiagnosisTask).where(is_due)) or 0


def claim(session: Session, *, lease: timedelta, attempts: int) -> DiagnosisClaim | None:
    """Claim the newest evaluation; None if none is waiting. What has stopped workers `attempts` times is given up."""
    given_up = {"failure": DiagnosisFailure.INTERRUPTED, "failed_at": now(), "attempts": 0}
    _queue.release_expired(session, attempts=attempts, given_up=given_up)
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


def hold(session: Session, claim: DiagnosisClaim) -> None:
    """Leave an evaluation claimed until the lease ends, which counts as no attempt."""
    _queue.hold(session, claim)


def is_held(session: Session, claim: DiagnosisClaim) -> bool:
    """Whether a diagnosis may be stored; the claim cannot be lost before the end of the transaction."""
    query = select(DiagnosisTask.evaluation_id).where(_queue.is_claimed_by(claim)).with_for_update()
    return session.scalar(query) is not None


def finish(session: Session, claim: DiagnosisClaim) -> None:
    """Take an evaluation whose diagnosis is stored from the queue."""
    done = delete(DiagnosisTask).where(_queue.is_claimed_by(claim))
    session.execute(done.execution_options(synchronize_session=False))


def fail(session: Session, claim: DiagnosisClaim, failure: DiagnosisFailure, *, detail: str) -> None:
    """Record why an evaluation cannot be diagnosed. It is not tried again before an organiser asks for it.

    Args:
        detail: the error, for the operator.
    """
    values = {"failure": failure, "failed_at": now(), "failure_detail": detail, "attempts": 0}
    _queue.finish(session, claim, values)


def add_imported(session: Session, challenge_id: uuid.UUID, truth_sha256: str) -> None:
    """Add the results of another server, once this challenge has the ground truth here that they were scored with.

    An import may say anything about what its results were scored with. So what counts is that this challenge's own
    ground truth has the hash, not that any on this server has.
    """
    is_known = exists().where(
        CompetitionResult.evaluation_id == Evaluation.id, DiagnosisShares.result_id == CompetitionResult.id
    )
    ids = session.scalars(
        select(Evaluation.id)
        .join(Submission, Submission.current_evaluation_id == Evaluation.id)
        .join(Challenge, Challenge.id == Submission.challenge_id)
        .where(
            Challenge.id == challenge_id,
            Challenge.imported_at.is_not(None),
            Evaluation.ground_truth_sha256 == truth_sha256,
            ~is_known,
        )
    ).all()
    if not ids:
        return
    session.execute(
        delete(DiagnosisTask).where(DiagnosisTask.evaluation_id.in_(ids)).execution_options(synchronize_session=False)
    )
    session.execute(insert(DiagnosisTask), [{"evaluation_id": evaluation_id} for evaluation_id in ids])
