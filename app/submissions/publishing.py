"""Publishing results and taking them back. Only its owner publishes a submission."""

import uuid

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload, selectinload

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges.bans import ban_from, require_not_banned
from vocboard.app.challenges.phases import require_not_archived
from vocboard.app.database import lock_for_transaction, now
from vocboard.app.errors import ConflictError
from vocboard.app.leaderboards import freezing
from vocboard.app.submissions import queries
from vocboard.app.submissions.holding import held_own
from vocboard.app.submissions.models import State, Submission


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
    if submission.is_rehearsal:
        raise ConflictError("This is a rehearsal. It cannot be published.")
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
    others = queries.published_competitors(session, submission, _keys(submission))
    if others:
        other = others[0]
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
    submission.publish_when_scored = False
    if submission.published_at is None and submission.published_before is None:
        return submission
    require_not_archived(submission.challenge)
    submission.published_at = submission.published_before = None
    audit.record(session, actor=user, action="submission.unpublish", subject=submission)
    return submission


def publish_if_promised(session: Session, submission_id: uuid.UUID) -> None:
    """Publish a submission that has just been scored, if its owner asked for that at the upload.

    Not if its owner could not publish it now: then it stays private.
    """
    submission = session.scalars(
        select(Submission)
        .where(Submission.id == submission_id, Submission.publish_when_scored, Submission.state == State.SCORED)
        .options(selectinload(Submission.entries), joinedload(Submission.method))
        .execution_options(populate_existing=True)
    ).one_or_none()
    if submission is None or submission.published_at is not None or submission.held_back_at is not None:
        return
    if not _may_be_published(session, submission):
        return
    submission.published_at = now()
    audit.record(session, actor=None, action="submission.publish", subject=submission, details={"promised": True})
    freezing.freeze_due(session, challenge_queries.challenge_as_it_is(session, submission.challenge_id))


def publish_as_before(session: Session, submission: Submission) -> bool:
    """Put a submission back where its owner had it before organisers took it off; whether it is published now.

    It stays off if its owner had not published it, or is banned, or its method has another published result by now.
    """
    before, submission.published_before = submission.published_before, None
    if before is None or submission.state != State.SCORED:
        return False
    if not _may_be_published(session, submission):
        return False
    submission.published_at = before
    return True


def _may_be_published(session: Session, submission: Submission) -> bool:
    """Whether neither a ban, a disqualification nor another result of its method is in the way."""
    if ban_from(session, user_id=submission.user_id, challenge_id=submission.challenge_id) is not None:
        return False
    _hold_method(session, submission)
    try:
        _require_not_disqualified_elsewhere(session, submission)
    except ConflictError:
        return False
    return not queries.published_competitors(session, submission, _keys(submission))


def _keys(submission: Submission) -> list[str]:
    return [entry.competition for entry in submission.entries]


def _hold_method(session: Session, submission: Submission) -> None:
    """Let only one transaction at a time publish a result of a method; workers, too, which may not lock its row."""
    lock_for_transaction(session, f"published results of method {submission.method_id}")


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
