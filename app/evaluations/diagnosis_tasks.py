"""Jobs that diagnose evaluations, and the diagnoses that are not known yet.

Only the current evaluation of a submission is diagnosed, so a re-score that is discarded costs nothing.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, delete, exists, func, select
from sqlalchemy.orm import Session

from vocboard.app.evaluations.diagnosis_failures import DiagnosisFailure
from vocboard.app.evaluations.models import CompetitionResult, DiagnosisShares, Evaluation
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.submissions.models import WITH_RESULT, Submission


@dataclass(frozen=True, slots=True)
class UnknownDiagnoses:
    """The results of a challenge whose errors are not known.

    Attributes:
        waiting: number of submissions whose errors are computed when nothing else is waiting.
        failed: numbers of those whose errors could not be computed, by reason.
    """

    waiting: int
    failed: Mapping[DiagnosisFailure, int]


def is_to_be_diagnosed() -> ColumnElement[bool]:
    """Condition on evaluations, joined with submissions: the evaluation counts."""
    return and_(
        Submission.current_evaluation_id == Evaluation.id,
        Submission.state.in_(WITH_RESULT),
    )


def add(session: Session, *conditions: ColumnElement[bool]) -> None:
    """Add the jobs of current evaluations without a diagnosis; see `is_wanted`. They replace those that have failed.

    Args:
        conditions: on evaluations, joined with submissions.
    """
    is_known = exists().where(
        CompetitionResult.evaluation_id == Evaluation.id, DiagnosisShares.result_id == CompetitionResult.id
    )
    missing = (
        select(Evaluation.id, Submission.user_id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(is_to_be_diagnosed(), ~is_known, *conditions)
        .order_by(Evaluation.created_at.desc(), Evaluation.id)
    )
    unknown = missing.with_only_columns(Evaluation.id).order_by(None)
    failed = Job.kind == Kind.DIAGNOSIS, Job.failure.is_not(None), Job.key.in_(unknown)
    session.execute(delete(Job).where(*failed).execution_options(synchronize_session=False))
    jobs.add_all(session, Kind.DIAGNOSIS, [(row[0], row[1]) for row in session.execute(missing)])


def add_new(session: Session, evaluation_id: uuid.UUID, owner: uuid.UUID) -> None:
    """Add the job of a new evaluation, which is the current one of a scored submission."""
    jobs.add(session, Kind.DIAGNOSIS, evaluation_id, owner=owner)


def is_wanted(session: Session, evaluation_id: uuid.UUID) -> bool:
    """Whether an evaluation still counts."""
    query = select(Evaluation.id).join(Submission, Submission.id == Evaluation.submission_id)
    return session.scalar(query.where(Evaluation.id == evaluation_id, is_to_be_diagnosed())) is not None


def outcome(session: Session, evaluation_id: uuid.UUID) -> tuple[bool, DiagnosisFailure | None]:
    """Return whether an evaluation will be diagnosed, and why it could not be."""
    query = select(Job.finished_at, Job.failure).where(Job.kind == Kind.DIAGNOSIS, Job.key == evaluation_id)
    found = session.execute(query.order_by(Job.finished_at.desc())).all()
    if any(row.finished_at is None for row in found):
        return True, None
    return False, next((DiagnosisFailure(row.failure) for row in found if row.failure is not None), None)


def unknown(session: Session, challenge_id: uuid.UUID) -> UnknownDiagnoses:
    """Count the submissions of a challenge whose errors are not known."""
    is_pending = Job.finished_at.is_(None)
    rows = session.execute(
        select(Job.failure, func.count())
        .join(Evaluation, Evaluation.id == Job.key)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(
            Job.kind == Kind.DIAGNOSIS,
            is_pending | Job.failure.is_not(None),
            Submission.challenge_id == challenge_id,
            is_to_be_diagnosed(),
        )
        .group_by(Job.failure)
    ).all()
    numbers = {row[0]: row[1] for row in rows}
    return UnknownDiagnoses(
        waiting=numbers.get(None, 0),
        failed={reason: numbers[reason] for reason in DiagnosisFailure if reason in numbers},
    )


def retry_failed(session: Session, challenge_id: uuid.UUID) -> None:
    """Let the failed diagnoses of a challenge be computed again."""
    failed = (
        select(Job.key)
        .join(Evaluation, Evaluation.id == Job.key)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(Job.kind == Kind.DIAGNOSIS, Job.failure.is_not(None), Submission.challenge_id == challenge_id)
    )
    jobs.retry_failed(session, Kind.DIAGNOSIS, session.scalars(failed).all())
