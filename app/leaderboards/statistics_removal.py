"""Removes evidence and replicates that are not needed any more.

Both can be had again from the archives.
"""

from sqlalchemy import delete, exists, or_, select
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Scoring
from vocboard.app.evaluations.models import CompetitionResult, Evaluation, SecretEvidence
from vocboard.app.leaderboards.models import OPEN, Rescore, SecretReplicates
from vocboard.app.submissions.models import State, Submission


def remove_unneeded(session: Session) -> None:
    """Remove those of withdrawn submissions, and of evaluations that a re-score has replaced or not made count."""
    is_in_open_rescore = exists().where(
        Rescore.state.in_(OPEN),
        or_(Rescore.scoring_id == Scoring.id, Rescore.scoring_id == Scoring.begun_with_id),
    )
    is_replaced = (Submission.current_evaluation_id != Evaluation.id) & ~is_in_open_rescore
    for table in (SecretEvidence, SecretReplicates):
        unneeded = (
            select(table.result_id)
            .join(CompetitionResult, CompetitionResult.id == table.result_id)
            .join(Evaluation, Evaluation.id == CompetitionResult.evaluation_id)
            .join(Scoring, Scoring.id == Evaluation.scoring_id)
            .join(Submission, Submission.id == Evaluation.submission_id)
            .where(or_(Submission.state == State.WITHDRAWN, is_replaced))
        )
        session.execute(delete(table).where(table.result_id.in_(unneeded)).execution_options(synchronize_session=False))
