"""Publishing results and taking them back. Only its owner publishes a submission."""

import uuid
from collections.abc import Collection
from typing import Any

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session, joinedload, selectinload

from vocboard.app.accounts.models import User
from vocboard.app.accounts.secret_tokens import digest, new_secret
from vocboard.app.audit import service as audit
from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges.models import Ban
from vocboard.app.challenges.phases import (
    require_not_archived,
)
from vocboard.app.database import lock_for_transaction, now
from vocboard.app.errors import (
    AlreadyPublishedError,
    ConflictError,
    InvalidInputError,
)
from vocboard.app.leaderboards import freezing
from vocboard.app.participating.locking import lock_person, locked_own, refresh_entries
from vocboard.app.submissions import notices, queries
from vocboard.app.submissions.models import State, Submission
from vocboard.app.teams.models import TeamMember
from vocboard.app.teams.queries import lock_team, people_with, require_none_banned


def publish(
    session: Session,
    *,
    submission_id: uuid.UUID,
    user: User,
    competitions: Collection[str] | None = None,
    replace: bool = False,
) -> Submission:
    """Put one's scored submission on leaderboards. Idempotent.

    Args:
        competitions: on whose leaderboards; by default all that it entered.
        replace: whether it takes the place of the published results of the same method in these competitions. They are
            unpublished in the same transaction.

    Raises:
        NotFoundError, ForbiddenError: it is not the person's own, or the person is banned from the challenge.
        InvalidInputError: on `competitions`.
        ConflictError: it is not scored, the organisers keep it off the leaderboards, its method or the same archive is
            disqualified, or its method is already on one of these boards.
    """
    _lock_team(session, submission_id, user)
    submission = locked_own(session, submission_id, user, what="publish a submission", with_person=True)
    keys = _checked_competitions(submission, competitions)
    if set(keys) <= set(submission.published_competitions):
        return submission
    _require_publishable(submission)
    people = people_with(session, submission.challenge_id, user)
    require_none_banned(session, challenge_id=submission.challenge_id, user=user, people=people)
    _lock_method(session, submission)
    _require_not_disqualified_elsewhere(session, submission, user)
    others = queries.published_competitors(session, submission, keys)
    if others and not replace:
        raise AlreadyPublishedError(_already_published(submission, others[0], keys))
    for other in others:
        _make_way(session, other, keys, user=user, submission=submission)
    submission.publish_when_scored = False  # what somebody publishes after the freezing date is a later result
    _show(submission, keys)
    details: dict[str, Any] = {} if competitions is None else {"competitions": keys}
    if others:
        details["replaced"] = [str(other.id) for other in others]
    audit.record(session, actor=user, action="submission.publish", subject=submission, details=details)
    notices.published(session, submission.id, by=user.id)
    return submission


def unpublish(
    session: Session, *, submission_id: uuid.UUID, user: User, competitions: Collection[str] | None = None
) -> Submission:
    """Remove one of the user's own submissions from the leaderboards. Idempotent.

    One that organisers took off stays off even when they allow it again. Organisers use
    `app.organising.moderation.hold_back`, which lasts.

    Args:
        competitions: from whose leaderboards; by default from all.

    Raises:
        NotFoundError, ForbiddenError: it is not the person's own.
        InvalidInputError: on `competitions`.
        ConflictError: the challenge is archived.
    """
    submission = locked_own(
        session, submission_id, user, what="unpublish a submission so that it can be published again"
    )
    keys = _checked_competitions(submission, competitions)
    submission.publish_when_scored = False
    if submission.published_at is None and submission.published_before is None:
        return submission
    require_not_archived(submission.challenge)
    if all(entry.is_private for entry in submission.entries if entry.competition in keys):
        return submission
    _hide(submission, keys)
    details = {} if competitions is None else {"competitions": keys}
    audit.record(session, actor=user, action="submission.unpublish", subject=submission, details=details)
    return submission


def _checked_competitions(submission: Submission, competitions: Collection[str] | None) -> list[str]:
    """Return the competitions that are meant, in the order of the edition."""
    entered = [entry.competition for entry in submission.entries]
    if competitions is None:
        return entered
    if not competitions:
        raise InvalidInputError({"competitions": "Choose at least one competition."})
    unknown = [key for key in competitions if key not in entered]
    if unknown:
        found, known = ", ".join(unknown), ", ".join(entered)
        raise InvalidInputError({"competitions": f"The submission has no results for {found}; it has entered {known}."})
    return [key for key in entered if key in competitions]


def _require_publishable(submission: Submission) -> None:
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


def _lock_team(session: Session, submission_id: uuid.UUID, user: User) -> None:
    """Let only one member of a team publish at a time: two may replace each other's results."""
    submission = queries.get_for(session, submission_id, user)
    if queries.is_own(session, submission, user):
        lock_person(session, submission.user_id)
        lock_team(session, submission.team_id)


def _already_published(submission: Submission, other: Submission, keys: Collection[str]) -> str:
    shared = [key for key in other.published_competitions if key in keys]
    return (
        f"The method “{submission.method.name}” already has a published result in {', '.join(shared)}: submission "
        f"{other.id}. Replace that one, unpublish it first, or give a different method its own name."
    )


def _make_way(
    session: Session, other: Submission, keys: Collection[str], *, user: User, submission: Submission
) -> None:
    """Unpublish the results of the same method that another one replaces."""
    session.refresh(other, ["state", "published_at"], with_for_update={"of": Submission})
    refresh_entries(session, other)
    replaced = [key for key in other.published_competitions if key in keys]
    if not replaced:
        return
    _hide(other, replaced)
    details = {"competitions": replaced, "replaced_by": str(submission.id)}
    audit.record(session, actor=user, action="submission.unpublish", subject=other, details=details)


def _show(submission: Submission, keys: Collection[str]) -> None:
    instant = now()
    if submission.published_at is None:
        submission.published_at = instant
        for entry in submission.entries:
            entry.is_private, entry.published_at = entry.competition not in keys, None
        return
    for entry in submission.entries:
        if entry.is_private and entry.competition in keys:
            entry.is_private, entry.published_at = False, instant


def _hide(submission: Submission, keys: Collection[str]) -> None:
    for entry in submission.entries:
        if entry.competition in keys:
            entry.is_private, entry.published_at = True, None
    if all(entry.is_private for entry in submission.entries):
        submission.published_at = submission.published_before = None
        for entry in submission.entries:
            entry.is_private = False


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
    notices.published_as_promised(session, submission.id)
    freezing.freeze_due(session, challenge_queries.challenge_as_it_is(session, submission.challenge_id))


def publish_as_before(session: Session, submission: Submission) -> bool:
    """Put a submission back where its owner had it before organisers took it off; whether it is published now.

    One that waits for its scores is published with them, as if its owner had asked for that at the upload. It stays off
    if its owner had not published it, or is banned, or its method has another published result by now.
    """
    before, submission.published_before = submission.published_before, None
    if before is not None and submission.state in {State.QUEUED, State.EVALUATING}:
        submission.publish_when_scored = True
    if before is None or submission.state != State.SCORED:
        return False
    if not _may_be_published(session, submission):
        return False
    submission.published_at = before
    return True


def _may_be_published(session: Session, submission: Submission) -> bool:
    """Whether a submission may be published.

    It may not if its owner or a member of the team is banned, if the method is disqualified, or if another result of
    the method is published. Bans of addresses, which were imported, do not count: workers ask, too, and know no
    addresses.
    """
    in_team = select(TeamMember.user_id).where(TeamMember.team_id == submission.team_id)
    from_challenge = and_(Ban.challenge_id == submission.challenge_id, Ban.user_id.in_(in_team))
    from_server = and_(Ban.challenge_id.is_(None), Ban.user_id == submission.user_id)
    if session.scalar(select(Ban.id).where(or_(from_challenge, from_server)).limit(1)) is not None:
        return False
    _lock_method(session, submission)
    try:
        _require_not_disqualified_elsewhere(session, submission)
    except ConflictError:
        return False
    return not queries.published_competitors(session, submission, _keys(submission))


def _keys(submission: Submission) -> list[str]:
    """Return the competitions that it is published in, or would be if organisers had not removed it."""
    return [entry.competition for entry in submission.entries if not entry.is_private]


def _lock_method(session: Session, submission: Submission) -> None:
    """Let only one transaction at a time publish a result of a method; workers, too, which may not lock its row."""
    lock_for_transaction(session, f"published results of method {submission.method_id}")


def _require_not_disqualified_elsewhere(session: Session, submission: Submission, user: User | None = None) -> None:
    """Refuse a disqualified method that comes back in another submission.

    Args:
        user: who is told which one and why, if it is of the person's team.
    """
    other = queries.disqualified_twin(session, submission)
    if other is None:
        return
    what = (
        f"The method “{submission.method.name}”"
        if other.method_id == submission.method_id
        else "The archive of this submission"
    )
    is_own = queries.is_own(session, other, user)
    why = f", as submission {other.id}: “{other.moderation_reason}”" if is_own else "."
    raise ConflictError(
        f"{what} was disqualified by the organisers{why} Give a method that is different its own name and its own "
        "results."
    )


def create_anonymous_link(session: Session, *, submission_id: uuid.UUID, user: User) -> str:
    """Return the token of a new anonymous link to a scored submission: see `anonymous_address`. An earlier link ends.

    Raises:
        NotFoundError, ForbiddenError: it is not the user's own submission.
        ConflictError: it is not scored, is a rehearsal, or not everyone may see the challenge.
    """
    submission = locked_own(session, submission_id, user, what="create an anonymous link to a submission")
    if submission.is_rehearsal:
        raise ConflictError("A rehearsal has no anonymous link: only the organisers see its result.")
    if submission.state != State.SCORED:
        raise ConflictError(f"Only a scored submission can have an anonymous link; this one is {submission.state}.")
    if not submission.challenge.visibility.is_open:
        raise ConflictError("Not everyone can see this challenge: an anonymous link would show nothing.")
    token = new_secret()
    submission.anonymous_token_hash = digest(token)
    audit.record(session, actor=user, action="submission.create_anonymous_link", subject=submission)
    return token


def anonymous_address(site: str, token: str) -> str:
    """Return the address of an anonymous link.

    Args:
        site: the public URL.
    """
    return f"{site}/anonymous/{token}"


def revoke_anonymous_link(session: Session, *, submission_id: uuid.UUID, user: User) -> Submission:
    """Revoke a submission's anonymous link. Idempotent.

    Raises:
        NotFoundError, ForbiddenError: it is not the user's own submission.
    """
    submission = locked_own(session, submission_id, user, what="revoke the anonymous link to a submission")
    if submission.anonymous_token_hash is not None:
        submission.anonymous_token_hash = None
        audit.record(session, actor=user, action="submission.revoke_anonymous_link", subject=submission)
    return submission
