"""Operations on the user's own submissions: submit, withdraw, create anonymous links. See also `publishing`."""

import uuid
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges.phases import (
    require_not_archived,
)
from vocboard.app.database import now
from vocboard.app.errors import ConflictError
from vocboard.app.leaderboards import freezing
from vocboard.app.participating.locking import locked_own, require_own
from vocboard.app.submissions import queries, queue
from vocboard.app.submissions.models import State, Submission

FINAL = (State.FAILED, State.WITHDRAWN, State.DISQUALIFIED)


def withdraw(session: Session, *, submission_id: uuid.UUID, user: User) -> Submission:
    """Withdraw a submission, and remove it from the leaderboards.

    If it is still queued, it no longer counts against the quota.

    Raises:
        NotFoundError, ForbiddenError: it is not the user's own submission.
        ConflictError: it has failed, was already withdrawn or disqualified, or the challenge is archived.
    """
    submission = locked_own(session, submission_id, user, what="withdraw a submission")
    require_not_archived(submission.challenge)
    if submission.state in FINAL:
        raise ConflictError(f"The submission is already {submission.state}.")
    withdraw_locked(session, submission, user)
    return submission


def withdraw_locked(session: Session, submission: Submission, user: User) -> None:
    """Withdraw a locked submission of the user that is not over."""
    if submission.state == State.QUEUED:
        submission.quota_returned_at = now()
    before = submission.state
    submission.state = State.WITHDRAWN
    submission.finished_at = now()  # from then on, its archive is kept for a while
    submission.published_at = submission.published_before = None
    submission.anonymous_token_hash = None
    queue.remove(session, submission)
    audit.record(session, actor=user, action="submission.withdraw", subject=submission, details={"state": before})


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
        shares_archive: whether other submissions of the user's have the same archive, which stays for them. Whether
            those of other people have it is for organisers.
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
    require_own(session, submission, user, what="withdraw a submission")
    require_not_archived(submission.challenge)
    if submission.state in FINAL:
        raise ConflictError(f"The submission is already {submission.state}.")
    frozen = freezing.boards_with(session, submission, queries.phase_of(submission))
    others = select(Submission.id).where(
        queries.owned_by(user),
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
