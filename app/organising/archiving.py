"""The end of a challenge: archived (it can be read, but not changed), or deleted as a draft without entries."""

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import organisers, queries
from vocboard.app.challenges.models import Challenge, Visibility
from vocboard.app.challenges.phases import lock_to_change
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, ForbiddenError
from vocboard.app.leaderboards import freezing
from vocboard.app.rescores import queries as rescores
from vocboard.app.submissions.models import State, Submission
from vocboard.evaluator.problems import counted

_DIRECTLY = {"synchronize_session": False}
_IS_UNFINISHED = Submission.state.in_((State.QUEUED, State.EVALUATING))


def archive(session: Session, *, challenge: Challenge, user: User) -> None:
    """Make a challenge read-only: nothing is submitted, published, moderated or changed until it is reopened.

    Args:
        challenge: from `get_organised`.

    Raises:
        ConflictError: it is archived already, submissions wait or are being evaluated, or a re-score has not ended.
    """
    lock_to_change(session, challenge)
    freezing.freeze_due(session, challenge)
    if number := _count(session, challenge, _IS_UNFINISHED):
        unfinished = counted(number, "submission is", "submissions are")
        raise ConflictError(f"{unfinished} still being evaluated. Archive the challenge afterwards.")
    if (rescore := rescores.any_open(session, challenge.id)) is not None:
        one = "A re-score" if rescore.submission_id is None else "A re-score of one submission"
        raise ConflictError(f"{one} is {rescore.state}. Apply or discard it first: see Overview → Ground truth.")
    challenge.archived_at = now()
    audit.record(session, actor=user, action="challenge.archive", subject=challenge)


def reopen(session: Session, *, challenge: Challenge, user: User) -> None:
    """Let an archived challenge be changed again; whether it takes submissions depends on its dates.

    Raises:
        ConflictError: it is not archived.
    """
    queries.lock_challenge(session, challenge.id)
    session.refresh(challenge, ["archived_at"])
    if challenge.archived_at is None:
        raise ConflictError("This challenge is not archived.")
    freezing.freeze_due(session, challenge)
    challenge.archived_at = None
    audit.record(session, actor=user, action="challenge.reopen", subject=challenge)


def has_entries(session: Session, challenge: Challenge) -> bool:
    """Whether anything but rehearsals has been submitted."""
    return _count(session, challenge, ~Submission.is_rehearsal) > 0


def delete_draft(session: Session, *, challenge: Challenge, user: User) -> None:
    """Delete a draft with its ground truth and the rehearsals of its organisers. This cannot be undone.

    Raises:
        ForbiddenError: the user does not own it.
        ConflictError: it is not a draft, has submissions that are not rehearsals, or a worker is evaluating some.
    """
    queries.lock_challenge(session, challenge.id)
    session.refresh(challenge, ["visibility"])
    if not organisers.is_owner(session, challenge, user):
        raise ForbiddenError("Only the owner of the challenge can delete it.")
    if challenge.visibility is not Visibility.DRAFT:
        raise ConflictError("Only drafts can be deleted. Archive this challenge instead, or make it a draft first.")
    if has_entries(session, challenge):
        raise ConflictError("This challenge has submissions. Archive it instead.")
    if _count(session, challenge, _IS_UNFINISHED) or rescores.is_one_running(session, challenge.id):
        raise ConflictError("Rehearsals are still being evaluated. Delete the draft afterwards.")
    details = {"title": challenge.title, "slug": challenge.slug}
    audit.record(session, actor=user, action="challenge.delete", subject=challenge, details=details)
    # First: PostgreSQL does not delete the challenge's scorings while evaluations refer to them.
    session.execute(
        delete(Submission).where(Submission.challenge_id == challenge.id, Submission.is_rehearsal),
        execution_options=_DIRECTLY,
    )
    session.execute(delete(Challenge).where(Challenge.id == challenge.id), execution_options=_DIRECTLY)


def _count(session: Session, challenge: Challenge, *conditions: ColumnElement[bool]) -> int:
    query = select(func.count()).select_from(Submission).where(Submission.challenge_id == challenge.id, *conditions)
    return session.scalar(query) or 0
