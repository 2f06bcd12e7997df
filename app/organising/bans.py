"""Banning people from a challenge or the server, deciding at once what happens to their published results."""

import uuid
from enum import StrEnum

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from vocboard.app.accounts import administration
from vocboard.app.accounts.models import Role, User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges.bans import ban_from
from vocboard.app.challenges.models import Ban, Challenge
from vocboard.app.challenges.phases import require_not_archived
from vocboard.app.challenges.queries import organises
from vocboard.app.errors import ConflictError, ForbiddenError, NotFoundError
from vocboard.app.organising import moderation as submissions
from vocboard.app.organising import notices
from vocboard.app.participating.locking import lock_person, lock_several
from vocboard.app.submissions import queries
from vocboard.app.submissions.models import State, Submission


class Results(StrEnum):
    """What happens to the published results of a banned person."""

    KEEP = "keep"
    UNPUBLISH = "unpublish"
    DISQUALIFY = "disqualify"


def entrant(session: Session, *, challenge: Challenge, user_id: uuid.UUID) -> User:
    """Return a person who has submitted to a challenge, or is banned from it.

    Raises:
        NotFoundError: nobody of that id has, or is, whether or not there is an account.
    """
    has_submitted = select(Submission.id).where(Submission.challenge_id == challenge.id, Submission.user_id == user_id)
    is_known = session.scalar(has_submitted.limit(1)) or ban_from(session, user_id=user_id, challenge_id=challenge.id)
    person = session.get(User, user_id) if is_known else None
    if person is None:
        raise NotFoundError("Nobody with this id has submitted to the challenge.")
    return person


def ban(
    session: Session, *, challenge: Challenge, person: User, user: User, reason: str, results: Results, site: str
) -> Ban:
    """Keep a person from submitting to a challenge and from publishing in it, and say so by email.

    Args:
        challenge: one that `get_organised` gave.
        user: the organiser.
        site: its address, for the email.

    Raises:
        InvalidInputError: on `reason`.
        ConflictError: the person is banned already, or organises the challenge, or the challenge is archived.
    """
    reason = submissions.checked_reason(reason)
    require_not_archived(challenge)
    person = lock_person(session, person.id)
    if organises(session, person, challenge.id):
        raise ConflictError(f"{person.name} organises this challenge. Remove the person from the organisers first.")
    if ban_from(session, user_id=person.id, challenge_id=challenge.id) is not None:
        raise ConflictError(f"{person.name} is already banned from this challenge.")
    found = Ban(user_id=person.id, challenge_id=challenge.id, reason=reason)
    session.add(found)
    changed = _settle(session, person=person, challenge=challenge, user=user, reason=reason, results=results)
    told = {"reason": reason, "results": results, "changed": notices.named(changed)}
    notices.tell(session, person, template="banned", challenge=challenge, site=site, **told)
    details = {"person": person.name, "reason": reason, "results": results.value, "submissions": len(changed)}
    details["user"] = str(person.id)
    audit.record(session, actor=user, action="challenge.ban", subject=challenge, details=details)
    return found


def lift_ban(session: Session, *, challenge: Challenge, person: User, user: User, site: str) -> None:
    """Let a banned person take part again. What the ban did to results stays; it can be undone one by one.

    The person is told by email.

    Args:
        site: its address, for the email.

    Raises:
        ConflictError: the person is not banned, or the challenge is archived.
    """
    require_not_archived(challenge)
    person = lock_person(session, person.id)
    found = ban_from(session, user_id=person.id, challenge_id=challenge.id)
    if found is None:
        raise ConflictError(f"{person.name} is not banned from this challenge.")
    session.delete(found)
    notices.tell(session, person, template="ban-lifted", challenge=challenge, site=site)
    details = {"person": person.name, "user": str(person.id)}
    audit.record(session, actor=user, action="challenge.lift_ban", subject=challenge, details=details)


def ban_from_server(session: Session, *, person: User, user: User, reason: str, results: Results, site: str) -> Ban:
    """Ban a user from the whole server: the account is disabled, with what happens to all published results.

    The person is told by email.

    Args:
        user: an administrator; the log names an operator at the command line instead.
        site: its address, for the email.

    Raises:
        ForbiddenError: the user is not an administrator.
        InvalidInputError: on `reason`.
        ConflictError: the person is banned already, or is the user.
    """
    reason = submissions.checked_reason(reason)
    _require_administrator(user)
    person = lock_person(session, person.id)
    if person.id == user.id:
        raise ConflictError("You cannot ban yourself.")
    if ban_from(session, user_id=person.id, challenge_id=None) is not None:
        raise ConflictError(f"{person.name} is already banned from this server.")
    found = Ban(user_id=person.id, challenge_id=None, reason=reason)
    session.add(found)
    changed = _settle(session, person=person, challenge=None, user=user, reason=reason, results=results)
    told = {"reason": reason, "results": results, "changed": notices.named(changed)}
    notices.tell(session, person, template="banned", challenge=None, site=site, **told)
    details = {"person": person.name, "reason": reason, "results": results.value, "submissions": len(changed)}
    audit.record(session, actor=user, action="user.ban", subject=person, details=details)
    administration.disable(session, user=person, actor=user)
    return found


def lift_server_ban(session: Session, *, person: User, user: User, site: str) -> None:
    """Let a person who was banned from the server sign in again.

    The person is told by email.

    Args:
        site: its address, for the email.

    Raises:
        ForbiddenError: the user is not an administrator.
        ConflictError: the person is not banned from the server.
    """
    _require_administrator(user)
    person = lock_person(session, person.id)
    found = ban_from(session, user_id=person.id, challenge_id=None)
    if found is None:
        raise ConflictError(f"{person.name} is not banned from this server.")
    session.delete(found)
    audit.record(session, actor=user, action="user.lift_ban", subject=person, details={"person": person.name})
    administration.enable(session, user=person, actor=user)
    notices.tell(session, person, template="ban-lifted", challenge=None, site=site)


def _require_administrator(user: User) -> None:
    if user.role is not Role.ADMINISTRATOR:
        raise ForbiddenError("Only administrators can ban people from the server.")


def _settle(
    session: Session, *, person: User, challenge: Challenge | None, user: User, reason: str, results: Results
) -> list[Submission]:
    """Do with the results on leaderboards what was decided, and return them; those of archived challenges stay.

    A result that its owner has unpublished or withdrawn is still on frozen leaderboards.
    """
    if results is Results.KEEP:
        return []
    own = Submission.user_id == person.id
    if challenge is not None:
        own = and_(own, Submission.challenge_id == challenge.id)
    # A worker that scores one, and publishes it as promised, has done so before, or sees the ban.
    entered = session.scalars(select(Submission.challenge_id).where(own, ~Submission.is_rehearsal).distinct())
    for challenge_id in sorted(entered):
        challenge_queries.lock_challenge(session, challenge_id)
    query = (
        queries.complete()
        .where(own, Submission.finished_at.is_not(None), Challenge.archived_at.is_(None))
        .order_by(Submission.id)
    )
    shown = [
        one
        for one in session.scalars(query)
        if one.published_at is not None or submissions.is_on_frozen_board(session, one)
    ]
    for challenge_id in sorted({one.challenge_id for one in shown}):
        lock_several(session, challenge_id, [one.id for one in shown])
    changed = []
    for one in shown:
        # What is withdrawn or could not be evaluated again stays so.
        is_over = results is Results.UNPUBLISH or one.state in {State.WITHDRAWN, State.FAILED}
        act = submissions.hold_back if is_over else submissions.disqualify_quietly
        changed.append(act(session, submission_id=one.id, user=user, reason=reason))
    return changed
