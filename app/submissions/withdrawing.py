"""What withdrawing a submission means, before its owner decides."""

import uuid
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges.phases import require_not_archived
from vocboard.app.errors import ConflictError, ForbiddenError
from vocboard.app.leaderboards import freezing
from vocboard.app.submissions import queries
from vocboard.app.submissions.models import State, Submission

FINAL = (State.FAILED, State.WITHDRAWN, State.DISQUALIFIED)


@dataclass(frozen=True, slots=True)
class Consequences:
    """What happens when a submission is withdrawn.

    Attributes:
        boards: competitions whose leaderboards it leaves.
        frozen: competitions whose frozen leaderboards go on showing it.
        ends_link: whether it has an anonymous link, which ends.
        returns_quota: whether its owner gets the quota back.
        has_scores: whether it has been scored.
        archive_kept_for: until its archive is deleted.
        shares_archive: whether other submissions have the same archive, which stays for them.
    """

    boards: tuple[str, ...]
    frozen: tuple[str, ...]
    ends_link: bool
    returns_quota: bool
    has_scores: bool
    archive_kept_for: timedelta
    shares_archive: bool


def consequences(
    session: Session, submission_id: uuid.UUID, user: User, *, archive_kept_for: timedelta
) -> tuple[Submission, Consequences]:
    """Return one of the user's own submissions, and what withdrawing it means now.

    Args:
        archive_kept_for: how long archives of withdrawn submissions are kept.

    Raises:
        NotFoundError, ForbiddenError: it is not the user's own submission.
        ConflictError: it cannot be withdrawn.
    """
    submission = queries.get_for(session, submission_id, user)
    if submission.user_id != user.id:
        raise ForbiddenError("Only the owner can withdraw a submission.")
    require_not_archived(submission.challenge)
    if submission.state in FINAL:
        raise ConflictError(f"The submission is already {submission.state}.")
    frozen = freezing.boards_with(session, submission, queries.phase_of(submission))
    others = select(Submission.id).where(
        Submission.archive_sha256 == submission.archive_sha256,
        Submission.id != submission.id,
        Submission.has_archive,
        Submission.state != State.WITHDRAWN,
    )
    return submission, Consequences(
        boards=tuple(key for key in submission.published_competitions if key not in frozen),
        frozen=frozen,
        ends_link=submission.anonymous_token_hash is not None,
        returns_quota=submission.state is State.QUEUED,
        has_scores=submission.state is State.SCORED,
        archive_kept_for=archive_kept_for,
        shares_archive=session.scalar(others.limit(1)) is not None,
    )
