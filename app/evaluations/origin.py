"""Whose word scores are: an import may say anything, so what it brought is marked until it has been scored here."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, Scoring, TruthState
from vocboard.app.evaluations.models import CompetitionResult, Evaluation
from vocboard.app.submissions.models import Submission

IMPORTED = "challenge.import"  # the action in the audit log


@dataclass(frozen=True, slots=True)
class ImportedScores:
    """That scores came in an archive.

    Attributes:
        by: name of the organiser who imported it.
    """

    at: datetime
    by: str

    @property
    def short_text(self) -> str:
        """The same for where a long name may be cut off."""
        return f"not scored here: imported from an archive on {self.at:%Y-%m-%d} by {self.by}"

    @property
    def text(self) -> str:
        """The sentence that pages and files have beside such scores."""
        return f"imported from an archive on {self.at:%Y-%m-%d} by {self.by}; not scored here"


def import_of(session: Session, challenge: Challenge) -> ImportedScores:
    """Return when and by whom an imported challenge was imported."""
    assert challenge.imported_at is not None  # noqa: S101  # it is imported
    event = session.scalar(
        select(AuditEvent).where(AuditEvent.challenge_id == challenge.id, AuditEvent.action == IMPORTED)
    )
    who = event and (event.actor_id or event.details.get("on_behalf_of"))  # an operator imports for an organiser
    name = who and session.scalar(select(User.name).where(User.id == uuid.UUID(str(who))))
    return ImportedScores(challenge.imported_at, name or "an organiser")


def results_from_elsewhere(session: Session, challenge: Challenge, competition: str) -> frozenset[uuid.UUID]:
    """Return the results of a challenge in a competition that were imported."""
    query = (
        select(CompetitionResult.id)
        .join(Evaluation, Evaluation.id == CompetitionResult.evaluation_id)
        .join(Scoring, Scoring.id == Evaluation.scoring_id)
        .join(GroundTruthVersion, GroundTruthVersion.id == Scoring.ground_truth_version_id)
        .where(
            GroundTruthVersion.challenge_id == challenge.id,
            GroundTruthVersion.state == TruthState.ELSEWHERE,
            CompetitionResult.competition == competition,
        )
    )
    return frozenset(session.scalars(query))


def counts_results_from_elsewhere(session: Session, challenge: Challenge) -> bool:
    """Whether imported scores of a challenge count until a re-score replaces them."""
    query = (
        select(Submission.id)
        .join(Evaluation, Evaluation.id == Submission.current_evaluation_id)
        .join(Scoring, Scoring.id == Evaluation.scoring_id)
        .join(GroundTruthVersion, GroundTruthVersion.id == Scoring.ground_truth_version_id)
        .where(Submission.challenge_id == challenge.id, GroundTruthVersion.state == TruthState.ELSEWHERE)
    )
    return session.scalar(query.limit(1)) is not None
