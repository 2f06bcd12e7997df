"""Publishing results and taking them back. Only its owner publishes a submission."""

import uuid

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges.bans import ban_from, require_not_banned
from vocboard.app.challenges.phases import require_not_archived
from vocboard.app.database import now
from vocboard.app.errors import ConflictError
from vocboard.app.submissions import queries
from vocboard.app.submissions.holding import held_own
from vocboard.app.submissions.models import Method, State, Submission


def publish(session: Session, *, submission_id: uuid.UUID, user: User) -> Submission:
    """Put one's scored submission on the leaderboards of its competitions; done already, it changes nothing.

    Raises:
        NotFoundError, ForbiddenError: it is not the person's own, or the person is banned from the challenge.
        ConflictError: it is not scored, the organisers keep it off the leaderboards, its method or the same archive is
            disqualified, or its method is already on one of these boards.
    """
    submission = held_own(session, submission_id, user, what="publish a submission", with_person=True)
    if submission.published_at is not None:
        return submission
    require_not_archived(submission.challenge)
    if submission.state == State.DISQUALIFIED:
        raise ConflictError(
            f"The organisers have disqualified this submission: “{submission.moderation_reason}” "
            "It cannot be published."
        )
    if submission.state != State.SCORED:
        raise ConflictError(f"Only a scored submission can be published; this one is {submission.state}.")
    if submission.held_back_at is not None:
        reason = f": “{submission.moderation_reason}”" if submission.moderation_reason else "."
        raise ConflictError(
            f"The organisers have unpublished this submission{reason} It can be published again when they allow it."
        )
    require_not_banned(session, user_id=user.id, challenge_id=submission.challenge_id)
    _hold_method(session, submission)
    _require_not_disqualified_elsewhere(session, submission)
    other = queries.published_competitor(session, submission)
    if other is not None:
        entered = {entry.competition for entry in other.entries}
        shared = [entry.competition for entry in submission.entries if entry.competition in entered]
        raise ConflictError(
            f"The method “{submission.method.name}” already has a published result in {', '.join(shared)}: submission "
            f"{other.id}. Unpublish that one first, or give a different method its own name."
        )
    submission.published_at = now()
    audit.record(session, actor=user, action="submission.publish", subject=submission)
    return submission


def unpublish(session: Session, *, submission_id: uuid.UUID, user: User) -> Submission:
    """Remove one of the user's own submissions from the leaderboards. Idempotent.

    One that organisers took off stays off even when they allow it again. Organisers use
    `app.moderation.submissions.hold_back`, which lasts.

    Raises:
        NotFoundError, ForbiddenError: it is not the person's own.
        ConflictError: the challenge is archived.
    """
    submission = held_own(session, submission_id, user, what="unpublish a submission so that it can be published again")
    if submission.published_at is None and submission.published_before is None:
        return submission
    require_not_archived(submission.challenge)
    submission.published_at = submission.published_before = None
    audit.record(session, actor=user, action="submission.unpublish", subject=submission)
    return submission


def publish_as_before(session: Session, submission: Submission) -> bool:
    """Put a submission back where its owner had it before organisers took it off; whether it is published now.

    It stays off if its owner had not published it, or is banned, or its method has another published result by now.
    """
    before, submission.published_before = submission.published_before, None
    if before is None or submission.state != State.SCORED:
        return False
    if ban_from(session, user_id=submission.user_id, challenge_id=submission.challenge_id) is not None:
        return False
    _hold_method(session, submission)
    try:
        _require_not_disqualified_elsewhere(session, submission)
    except ConflictError:
        return False
    if queries.published_competitor(session, submission) is not None:
        return False
    submission.published_at = before
    return True


def _hold_method(session: Session, submission: Submission) -> None:
    session.execute(select(Method.id).where(Method.id == submission.method_id).with_for_update())


def _require_not_disqualified_elsewhere(session: Session, submission: Submission) -> None:
    """Refuse a disqualified method that comes back in another submission."""
    other = queries.disqualified_twin(session, submission)
    if other is None:
        return
    what = (
        f"The method “{submission.method.name}”"
        if other.method_id == submission.method_id
        else "The archive of this submission"
    )
    raise ConflictError(
        f"{what} was disqualified by the organisers, as submission {other.id}: “{other.moderation_reason}” "
        "Give a method that is different its own name and its own results."
    )
