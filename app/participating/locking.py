"""Submissions locked against other changes to the end of a transaction: the first thing that every change does.

Everything is locked in one order, to avoid deadlocks: people by id, teams by id, the challenge, its frozen
leaderboards, submissions by id, their methods. The revision of the leaderboards is last
(`migrations.leaderboard_revisions`).
"""

import uuid
from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges.phases import require_not_archived
from vocboard.app.challenges.queries import organises
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
)


def lock_person(session: Session, user_id: uuid.UUID) -> User:
    """Let only one transaction at a time decide on what this person may do (SQLite has one writer anyway).

    Return the person, read again: the account may just have been deleted.
    """
    # Rows that refer to the person, such as those of the audit log, can still be added.
    return session.get_one(User, user_id, populate_existing=True, with_for_update={"key_share": True})


def lock_several(
    session: Session, challenge_id: uuid.UUID, submission_ids: Collection[uuid.UUID]
) -> frozenset[uuid.UUID]:
    """Lock submissions to a challenge, their owners and the challenge, before a transaction changes several of them.

    Return which of them the challenge has. A re-score that is applied changes many submissions in any order, and locks
    the challenge first.
    """
    found = select(Submission.id, Submission.user_id).where(
        Submission.challenge_id == challenge_id, Submission.id.in_(submission_ids)
    )
    rows = session.execute(found).all()
    for user_id in sorted({row.user_id for row in rows}):
        lock_person(session, user_id)
    freezing.freeze_due(session, challenge_queries.challenge_as_it_is(session, challenge_id))
    ids = frozenset(row.id for row in rows)
    session.execute(select(Submission.id).where(Submission.id.in_(ids)).order_by(Submission.id).with_for_update())
    return ids


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
        # Nor may a re-score be applied, or the challenge be archived, which decide by what is scored or waits.
        challenge_queries.challenge_as_it_is(session, submission.challenge_id)
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
    """Return a submission of the person's team.

    Args:
        what: what only its team can do, such as `publish a submission`.

    Raises:
        NotFoundError, ForbiddenError: it is not of the person's team.
    """
    submission = locked(session, submission_id, user, with_person=with_person)
    require_own(session, submission, user, what=what)
    return submission


def require_own(session: Session, submission: Submission, user: User, *, what: str) -> None:
    """Raise `ForbiddenError` if a submission is not of the person's team."""
    if not queries.is_own(session, submission, user):
        raise ForbiddenError(f"Only the owner can {what}.")


def locked_as_organiser(session: Session, submission_id: uuid.UUID, user: User) -> Submission:
    """Return a submission, with its owner locked, to one of the organisers of its challenge.

    Raises:
        NotFoundError, ForbiddenError: the person does not organise it.
        ConflictError: the challenge is archived.
    """
    submission = locked(session, submission_id, user, with_person=True)
    if not organises(session, user, submission.challenge_id):
        raise ForbiddenError("Only the organisers of the challenge can do this.")
    require_not_archived(submission.challenge)
    return submission
