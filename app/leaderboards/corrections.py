"""What organisers changed after results were published: corrections, and removals from frozen leaderboards.

Copies of frozen leaderboards keep what organisers disqualify, unpublish or mark as failed, and nothing is stored with
them: these results are left out while the submission is in that state. So a result whose disqualification is lifted is
back in its place.
"""

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge, GroundTruthVersion
from vocboard.app.challenges.phases import Phase
from vocboard.app.leaderboards.models import Rescore, RescoreState
from vocboard.app.submissions.models import Method, State, Submission, SubmissionEntry


@dataclass(frozen=True, slots=True)
class Correction:
    """An applied re-score, as shown on leaderboards.

    Attributes:
        method: method of the submission that was evaluated again; None for all.
        changes_edition: whether the rules were changed; `edition_version` is that of the new ones.
    """

    id: uuid.UUID
    applied_at: datetime
    reason: str
    ground_truth_version: int
    evaluator_version: str
    method: str | None
    edition_version: int = 1
    changes_edition: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return all of it in JSON's types."""
        return {**asdict(self), "id": str(self.id), "applied_at": self.applied_at.isoformat()}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> "Correction":
        """Return what `as_json` has written."""
        return cls(**{**kept, "id": uuid.UUID(kept["id"]), "applied_at": datetime.fromisoformat(kept["applied_at"])})


def corrections(session: Session, challenge: Challenge, phase: Phase, competition: str) -> tuple[Correction, ...]:
    """Return the applied re-scores to show on a leaderboard, newest first.

    Those of all results with the phase's ground truth or by other rules, and of single submissions that it lists:
    others may be on leaderboards that are hidden or anonymous.
    """
    is_listed = SubmissionEntry.competition == competition, SubmissionEntry.is_private.is_(False)
    of_one = and_(
        Submission.phase_id == phase.id, Submission.published_at.is_not(None), Submission.entries.any(and_(*is_listed))
    )
    is_of_truth = GroundTruthVersion.phase_id == phase.truth_phase_id
    of_all = and_(Rescore.submission_id.is_(None), or_(is_of_truth, Rescore.edition_changes.is_not(None)))
    rows = session.execute(
        select(
            Rescore.id,
            Rescore.finished_at,
            Rescore.reason,
            GroundTruthVersion.number,
            Rescore.evaluator_version,
            Method.name,
            Rescore.edition_version,
            Rescore.edition_changes,
        )
        .join(GroundTruthVersion, GroundTruthVersion.id == Rescore.ground_truth_version_id)
        .outerjoin(Submission, Submission.id == Rescore.submission_id)
        .outerjoin(Method, Method.id == Submission.method_id)
        .where(
            Rescore.challenge_id == challenge.id,
            Rescore.state == RescoreState.APPLIED,
            or_(of_all, of_one),
        )
        .order_by(Rescore.finished_at.desc(), Rescore.id)
    )
    return tuple(
        Correction(
            row.id,
            row.finished_at,
            row.reason,
            row.number,
            row.evaluator_version,
            row.name,
            row.edition_version,
            row.edition_changes is not None,
        )
        for row in rows
        if row.finished_at is not None and row.evaluator_version is not None
    )


class Cause(StrEnum):
    """Why organisers removed a result."""

    DISQUALIFIED = "disqualified"
    UNPUBLISHED = "unpublished"
    FAILED = "failed"


class Removal(NamedTuple):
    """A result that organisers removed from a frozen leaderboard. It does not tell whose."""

    removed_at: datetime
    cause: Cause


def removed_submissions(session: Session, phase_id: uuid.UUID) -> Mapping[str, Removal]:
    """Return which submissions to a phase no leaderboard shows by decision of the organisers, by id."""
    # What the server has failed, as by a re-score that could not read it again, has a technical reason.
    is_failed = and_(
        Submission.state == State.FAILED, Submission.finished_at.is_not(None), Submission.failure_detail.is_(None)
    )
    query = select(Submission.id, Submission.disqualified_at, Submission.held_back_at, Submission.finished_at).where(
        Submission.phase_id == phase_id,
        or_(Submission.disqualified_at.is_not(None), Submission.held_back_at.is_not(None), is_failed),
    )
    found = {}
    for submission_id, *dates in session.execute(query):
        found[str(submission_id)] = next(Removal(at, cause) for at, cause in zip(dates, Cause, strict=True) if at)
    return found
