"""Submissions locked against other changes to the end of a transaction: the first thing that every change does.

Rows are locked in one order everywhere, so that nobody waits in a circle: the person, the challenge, the submission,
its method.
"""

import uuid

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges.phases import require_not_archived
from vocboard.app.errors import ForbiddenError
from vocboard.app.leaderboards import freezing
from vocboard.app.submissions import queries
from vocboard.app.submissions.models import Submission, SubmissionEntry

_CHANGING = (
    "state",
    "published_at",
    "finished_at",
    "anonymous_token_hash",
    "quota_returned_at",
    "publish_when_scored",
    "disqualified_at",
    "held_back_at",
    "moderation_reason",
    "published_before",
    "current_evaluation_id",
    "lease_id",
    "lease_expires_at",
)


def lock_person(session: Session, user_id: uuid.UUID) -> None:
    """Let only one transaction at a time decide on what this person may do (SQLite has one writer anyway)."""
    # Rows that refer to the person, such as those of the audit log, are still added: nobody waits in a circle for them.
    session.execute(select(User.id).where(User.id == user_id).with_for_update(key_share=True))


def locked(session: Session, submission_id: uuid.UUID, user: User, *, with_person: bool = False) -> Submission:
    """Return a submission that the person may see, as it is now.

    Args:
        with_person: also lock its owner, for what bans and disqualifications decide on.

    Raises:
        NotFoundError: there is none, or it is not this person's to see.
    """
    submission = queries.get_for(session, submission_id, user)
    if with_person:
        lock_person(session, submission.user_id)
    freezing.freeze_due(session, submission.challenge)  # frozen leaderboards keep what they show before it changes
    session.refresh(submission, attribute_names=_CHANGING, with_for_update={"of": Submission})
    refresh_entries(session, submission)
    return submission


def refresh_entries(session: Session, submission: Submission) -> None:
    """Read again which competitions of a locked submission are published."""
    query = select(SubmissionEntry).where(SubmissionEntry.submission_id == submission.id)
    session.scalars(query.execution_options(populate_existing=True)).all()


def locked_own(
    session: Session, submission_id: uuid.UUID, user: User, *, what: str, with_person: bool = False
) -> Submission:
    """Return the person's own submission.

    Args:
        what: what only the owner can do, such as `publish a submission`.

    Raises:
        NotFoundError, ForbiddenError: it is not the person's own.
    """
    submission = locked(session, submission_id, user, with_person=with_person)
    if submission.user_id != user.id:
        raise ForbiddenError(f"Only the owner can {what}.")
    return submission


def locked_as_organiser(session: Session, submission_id: uuid.UUID, user: User) -> Submission:
    """Return a submission, with its owner locked, to one of the organisers of its challenge.

    Raises:
        NotFoundError, ForbiddenError: the person does not organise it.
        ConflictError: the challenge is archived.
    """
    submission = locked(session, submission_id, user, with_person=True)
    if not queries.is_organised_by(session, submission, user):
        raise ForbiddenError("Only the organisers of the challenge can do this.")
    require_not_archived(submission.challenge)
    return submission
