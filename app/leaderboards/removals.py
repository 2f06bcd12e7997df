"""What organisers remove from frozen leaderboards: results that they disqualify, unpublish or mark as failed.

The copies keep these results, and nothing is stored with them: they are left out while the submission is in that state.
So a result whose disqualification is lifted is back in its place.
"""

import uuid
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from vocboard.app.submissions.models import State, Submission


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
    """Return which submissions to a phase no leaderboard shows by decision of the organisers, by id.

    It includes what the server has failed, which no leaderboard has ever shown.
    """
    is_failed = and_(Submission.state == State.FAILED, Submission.finished_at.is_not(None))
    query = select(Submission.id, Submission.disqualified_at, Submission.held_back_at, Submission.finished_at).where(
        Submission.phase_id == phase_id,
        or_(Submission.disqualified_at.is_not(None), Submission.held_back_at.is_not(None), is_failed),
    )
    found = {}
    for submission_id, *dates in session.execute(query):
        found[str(submission_id)] = next(Removal(at, cause) for at, cause in zip(dates, Cause, strict=True) if at)
    return found
