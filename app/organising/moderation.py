"""What organisers do about submissions. Every action needs its reason, lasts, and is in the audit log."""

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from vocboard.app.evaluations import queries as evaluations
from vocboard.app.forms import FieldChecks
from vocboard.app.leaderboards import freezing
from vocboard.app.organising import notices
from vocboard.app.participating import publishing
from vocboard.app.participating.locking import lock_several, locked_as_organiser
from vocboard.app.participating.publishing import publish_as_before
from vocboard.app.submissions import notices as submission_notices
from vocboard.app.submissions import queries, queue
from vocboard.app.submissions.models import State, Submission

MAX_REASON_LENGTH = 1000
FAILED_BY_ORGANISERS = "The organisers have marked this submission as failed: “{reason}” You have your quota back."
_RUNNING_OR_SCORED = (State.QUEUED, State.EVALUATING, State.SCORED)


def checked_reason(reason: str, *, required: bool = True) -> str:
    """Return a reason, tidied.

    Raises:
        InvalidInputError: it is missing, too long, or has characters that cannot be seen.
    """
    checks = FieldChecks()
    reason = checks.text("reason", reason, max_length=MAX_REASON_LENGTH, required=required)
    checks.finish()
    return reason


def disqualify(session: Session, *, submission_id: uuid.UUID, user: User, reason: str, site: str) -> Submission:
    """Take a submission off all leaderboards, frozen ones included, until an organiser lifts it.

    Its owner is told the reason by email, too.

    Args:
        site: its address, for the email.

    Raises:
        NotFoundError, ForbiddenError: the person does not organise the challenge.
        InvalidInputError: on `reason`.
        ConflictError: it has failed, or is withdrawn or disqualified already, or the challenge is archived.
    """
    submission = disqualify_quietly(session, submission_id=submission_id, user=user, reason=reason)
    notices.disqualified(session, [submission], reason=submission.moderation_reason or "", site=site)
    return submission


def disqualify_quietly(session: Session, *, submission_id: uuid.UUID, user: User, reason: str) -> Submission:
    """Do the same as `disqualify` without an email, for callers that send one about several submissions."""
    reason = checked_reason(reason)
    submission = locked_as_organiser(session, submission_id, user)
    _require_state(submission)
    before = submission.state
    submission.state, submission.disqualified_at = State.DISQUALIFIED, now()
    submission.moderation_reason = reason
    submission.published_before = submission.published_at or submission.published_before
    submission.published_at = None
    queue.remove(session, submission)
    _record(session, user, "submission.disqualify", submission, reason=reason, state=before)
    return submission


def reinstate(session: Session, *, submission_id: uuid.UUID, user: User, reason: str = "", site: str) -> Submission:
    """Lift a disqualification. The submission is as it was before: scored or queued, and published if it was.

    Its owner is told by email.

    Args:
        site: its address, for the email.

    Raises:
        NotFoundError, ForbiddenError: the person does not organise the challenge.
        InvalidInputError: on `reason`.
        ConflictError: it is not disqualified, or the challenge is archived.
    """
    submission = reinstate_quietly(session, submission_id=submission_id, user=user, reason=reason)
    notices.reinstated(session, [submission], site=site)
    return submission


def reinstate_quietly(session: Session, *, submission_id: uuid.UUID, user: User, reason: str = "") -> Submission:
    """Do the same as `reinstate` without an email, for callers that send one about several submissions."""
    reason = checked_reason(reason, required=False)
    submission = locked_as_organiser(session, submission_id, user)
    if submission.state != State.DISQUALIFIED:
        raise ConflictError(f"Only a disqualified submission can be reinstated; this one is {submission.state}.")
    # What the current scoring has not evaluated waits for a worker.
    is_scored = evaluations.current(session, submission) is not None
    submission.state = State.SCORED if is_scored else State.QUEUED
    if not is_scored:
        queue.add(session, submission)
    submission.moderation_reason = submission.disqualified_at = None
    published = submission.held_back_at is None and publish_as_before(session, submission)
    _record(session, user, "submission.reinstate", submission, reason=reason, published=published)
    return submission


def hold_back(session: Session, *, submission_id: uuid.UUID, user: User, reason: str = "") -> Submission:
    """Unpublish a submission until an organiser allows it again, on frozen leaderboards, too.

    If no leaderboard shows it, nothing changes.

    Raises:
        NotFoundError, ForbiddenError: the person does not organise the challenge.
        InvalidInputError: on `reason`.
        ConflictError: the challenge is archived.
    """
    reason = checked_reason(reason, required=False)
    submission = locked_as_organiser(session, submission_id, user)
    if submission.published_at is None and not is_on_frozen_board(session, submission):
        return submission
    submission.published_before, submission.published_at = submission.published_at, None
    submission.held_back_at = now()
    submission.moderation_reason = reason or None
    _record(session, user, "submission.hold_back", submission, reason=reason)
    return submission


def unpublish(
    session: Session,
    *,
    submission_id: uuid.UUID,
    user: User,
    reason: str = "",
    competitions: Collection[str] | None = None,
) -> Submission:
    """Remove a submission from the leaderboards: temporarily if it is the user's own, otherwise permanently.

    Args:
        competitions: from whose leaderboards, by default from all; organisers always remove it from all.

    Raises:
        NotFoundError, ForbiddenError: it is neither the person's own nor of a challenge that the person organises.
        InvalidInputError, ConflictError: as `hold_back`.
    """
    if queries.is_own(session, queries.get_for(session, submission_id, user), user):
        return publishing.unpublish(session, submission_id=submission_id, user=user, competitions=competitions)
    if competitions is not None:
        raise InvalidInputError({"competitions": "Organisers can only unpublish a submission as a whole."})
    return hold_back(session, submission_id=submission_id, user=user, reason=reason)


def allow_publishing(session: Session, *, submission_id: uuid.UUID, user: User) -> Submission:
    """Let a submission that was held back be published again, as it was unless its owner decided otherwise meanwhile.

    Raises:
        NotFoundError, ForbiddenError: the person does not organise the challenge.
        ConflictError: it is not held back, or disqualified, or the challenge is archived.
    """
    submission = locked_as_organiser(session, submission_id, user)
    if submission.state == State.DISQUALIFIED:
        raise ConflictError("The submission is disqualified. Lift that first.")
    if submission.held_back_at is None:
        raise ConflictError("No organiser has unpublished this submission. Its owner decides whether to publish it.")
    submission.held_back_at = submission.moderation_reason = None
    published = publish_as_before(session, submission)
    _record(session, user, "submission.allow_publishing", submission, published=published)
    return submission


def fail(session: Session, *, submission_id: uuid.UUID, user: User, reason: str) -> Submission:
    """Say that something went wrong on the server's side: the submission fails, and its quota is given back.

    Its owner is told.

    Raises:
        NotFoundError, ForbiddenError: the person does not organise the challenge.
        InvalidInputError: on `reason`.
        ConflictError: it has failed already, or is withdrawn or disqualified, or the challenge is archived.
    """
    reason = checked_reason(reason)
    submission = locked_as_organiser(session, submission_id, user)
    _require_state(submission)
    before, instant = submission.state, now()
    submission.state = State.FAILED
    submission.failure = FAILED_BY_ORGANISERS.format(reason=reason)
    submission.failure_detail = None
    submission.finished_at = submission.quota_returned_at = instant
    submission.published_at = submission.published_before = None
    submission.held_back_at = submission.moderation_reason = None
    queue.remove(session, submission)
    session.flush()
    submission_notices.failed(session, [submission.id])
    _record(session, user, "submission.fail", submission, reason=reason, state=before)
    return submission


def _require_state(submission: Submission) -> None:
    if submission.state not in _RUNNING_OR_SCORED:
        frozen = " Unpublish it to remove it from frozen leaderboards." if submission.state is State.WITHDRAWN else ""
        raise ConflictError(f"The submission is already {submission.state}.{frozen}")


def is_on_frozen_board(session: Session, submission: Submission) -> bool:
    """Whether a frozen leaderboard shows a submission, with its challenge and entries."""
    return bool(freezing.boards_with(session, submission, queries.phase_of(submission)))


def _record(session: Session, user: User, action: str, submission: Submission, **details: Any) -> None:
    about = {"method": submission.method.name, "owner": submission.user.name}
    audit.record(session, actor=user, action=action, subject=submission, details=about | details)


MAX_SUBMISSIONS = 200  # at once: as many as a page of the list can have


class Action(StrEnum):
    """What organisers can do with several submissions at once."""

    UNPUBLISH = "unpublish"
    ALLOW_PUBLISHING = "allow_publishing"
    DISQUALIFY = "disqualify"
    REINSTATE = "reinstate"
    FAIL = "fail"


NEEDS_REASON = frozenset({Action.DISQUALIFY, Action.FAIL})
_ACTIONS: Mapping[Action, Callable[..., Submission]] = {
    Action.UNPUBLISH: hold_back,
    Action.ALLOW_PUBLISHING: allow_publishing,
    Action.DISQUALIFY: disqualify_quietly,
    Action.REINSTATE: reinstate_quietly,
    Action.FAIL: fail,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one of the submissions; `refusal` is None if the action was done."""

    submission_id: uuid.UUID
    refusal: str | None


def act(
    session: Session,
    *,
    challenge: Challenge,
    user: User,
    action: Action,
    submission_ids: Sequence[uuid.UUID],
    reason: str = "",
    site: str,
) -> tuple[Outcome, ...]:
    """Do something with submissions to a challenge that the person organises.

    Owners are told by email when a submission is disqualified, and when that is lifted.

    Args:
        site: its address, for the email.

    Raises:
        InvalidInputError: there are none, or too many; on `reason`.
    """
    if not 1 <= len(set(submission_ids)) <= MAX_SUBMISSIONS:
        raise InvalidInputError({"submissions": f"Choose between 1 and {MAX_SUBMISSIONS} submissions."})
    reason = checked_reason(reason, required=action in NEEDS_REASON)
    given = {} if action is Action.ALLOW_PUBLISHING else {"reason": reason}
    outcomes, done = [], []
    of_challenge = lock_several(session, challenge.id, submission_ids)
    for submission_id in sorted(set(submission_ids)):
        refusal = None
        try:
            with session.begin_nested():
                if submission_id not in of_challenge:
                    raise NotFoundError("The challenge has no such submission.")
                done.append(_ACTIONS[action](session, submission_id=submission_id, user=user, **given))
        except (ConflictError, ForbiddenError, NotFoundError) as error:
            refusal = str(error)
        outcomes.append(Outcome(submission_id, refusal))
    if action is Action.DISQUALIFY:
        notices.disqualified(session, done, reason=reason, site=site)
    elif action is Action.REINSTATE:
        notices.reinstated(session, done, site=site)
    return tuple(outcomes)
