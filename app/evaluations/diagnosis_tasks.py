"""What becomes of diagnoses that are not known yet. The web process reads no more of the tasks than this."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge
from vocboard.app.evaluations.diagnosis_failures import DiagnosisFailure
from vocboard.app.evaluations.models import DiagnosisTask, Evaluation
from vocboard.app.submissions.models import State, Submission


@dataclass(frozen=True, slots=True)
class UnknownDiagnoses:
    """The results of a challenge whose errors are not known.

    Attributes:
        waiting: number of submissions whose errors are computed when nothing else is waiting.
        failed: numbers of those whose errors could not be computed, by reason.
    """

    waiting: int
    failed: Mapping[DiagnosisFailure, int]


def has_failed() -> ColumnElement[bool]:
    """Condition on tasks, joined with their challenges: they failed, and no organiser has asked for them since."""
    requested = Challenge.statistics_requested_at
    return and_(DiagnosisTask.failure.is_not(None), or_(requested.is_(None), DiagnosisTask.failed_at >= requested))


def is_to_be_diagnosed() -> ColumnElement[bool]:
    """Condition on tasks, joined with evaluations and submissions: the evaluation counts."""
    return and_(
        Submission.current_evaluation_id == Evaluation.id,
        Submission.state.in_((State.SCORED, State.DISQUALIFIED)),
    )


def outcome(session: Session, evaluation_id: uuid.UUID) -> tuple[bool, DiagnosisFailure | None]:
    """Return whether an evaluation will be diagnosed, and why it could not be."""
    row = session.execute(
        select(DiagnosisTask.failure, has_failed())
        .join(Evaluation, Evaluation.id == DiagnosisTask.evaluation_id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(Challenge, Challenge.id == Submission.challenge_id)
        .where(DiagnosisTask.evaluation_id == evaluation_id)
    ).one_or_none()
    if row is None:
        return False, None
    failure, is_final = row
    return (False, DiagnosisFailure(failure)) if failure is not None and is_final else (True, None)


def unknown(session: Session, challenge_id: uuid.UUID) -> UnknownDiagnoses:
    """Count the submissions of a challenge whose errors are not known."""
    failed = has_failed()
    rows = session.execute(
        select(failed, DiagnosisTask.failure, func.count(DiagnosisTask.evaluation_id))
        .join(Evaluation, Evaluation.id == DiagnosisTask.evaluation_id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(Challenge, Challenge.id == Submission.challenge_id)
        .where(Submission.challenge_id == challenge_id, is_to_be_diagnosed())
        .group_by(failed, DiagnosisTask.failure)
    ).all()
    numbers = {reason: number for is_final, reason, number in rows if is_final}
    return UnknownDiagnoses(
        waiting=sum(number for is_final, _, number in rows if not is_final),
        failed={reason: numbers[reason] for reason in DiagnosisFailure if reason in numbers},
    )
