"""Who organises a challenge: its owner, and others whom organisers invite by email address.

An invitation says nothing about accounts: it looks the same for every address, and only the user who signs in with that
address, confirmed, can accept it. Its organisers see the name of a person once the person has accepted.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, select
from sqlalchemy.orm import Session, joinedload

from vocboard.app import rate_limits
from vocboard.app.accounts.models import Role, User
from vocboard.app.accounts.people import valid_email
from vocboard.app.audit import service as audit
from vocboard.app.challenges import queries
from vocboard.app.challenges.models import Challenge, ChallengeInvitation, ChallengeOrganiser
from vocboard.app.errors import ConflictError, ForbiddenError, NotFoundError
from vocboard.app.messaging import outbox
from vocboard.app.notifications.models import NotificationKind
from vocboard.app.notifications.service import notify
from vocboard.app.webhooks.models import Webhook

MAX_INVITATIONS = 50  # that wait in one challenge


@dataclass(frozen=True, slots=True)
class Organiser:
    """One organiser of a challenge."""

    user: User
    is_owner: bool


def organisers_of(session: Session, challenge: Challenge) -> Sequence[Organiser]:
    """Return the organisers of a challenge, its owner first, then by name; for its organisers (the caller checks)."""
    query = (
        select(User, ChallengeOrganiser.is_owner)
        .join(ChallengeOrganiser, ChallengeOrganiser.user_id == User.id)
        .where(ChallengeOrganiser.challenge_id == challenge.id)
        .order_by(ChallengeOrganiser.is_owner.desc(), User.name, User.id)
    )
    return [Organiser(user, is_owner) for user, is_owner in session.execute(query)]


def invitations_to(session: Session, challenge: Challenge) -> Sequence[ChallengeInvitation]:
    """Return the invitations to a challenge that wait, the latest first."""
    return session.scalars(
        select(ChallengeInvitation)
        .where(ChallengeInvitation.challenge_id == challenge.id)
        .order_by(ChallengeInvitation.created_at.desc(), ChallengeInvitation.id)
    ).all()


def invitations_of(session: Session, user: User) -> Sequence[ChallengeInvitation]:
    """Return a person's invitations with challenges and inviters, the latest first; none for an unconfirmed address."""
    if not user.is_confirmed:
        return ()
    return session.scalars(
        select(ChallengeInvitation)
        .where(ChallengeInvitation.email == user.email)
        .options(joinedload(ChallengeInvitation.challenge), joinedload(ChallengeInvitation.invited_by))
        .order_by(ChallengeInvitation.created_at.desc(), ChallengeInvitation.id)
    ).all()


def invite(session: Session, *, challenge: Challenge, user: User, email: str, site: str) -> ChallengeInvitation:
    """Invite the person with an address by email; if invited already, this changes and sends nothing.

    Args:
        challenge: one that `get_organised` gave.
        site: its address, for the link.

    Raises:
        InvalidInputError: for `email`.
        ConflictError: the person is an organiser already, or too many invitations wait.
        LimitedError: the user has sent too many invitations.
    """
    normalised = valid_email(email)
    queries.lock_challenge(session, challenge.id)
    if any(one.user.email == normalised for one in organisers_of(session, challenge)):
        raise ConflictError(f"{normalised} already organises this challenge.")
    waiting = invitations_to(session, challenge)
    for known in waiting:
        if known.email == normalised:
            return known
    if len(waiting) >= MAX_INVITATIONS:
        raise ConflictError(f"{MAX_INVITATIONS} invitations wait already. Withdraw some of them first.")
    rate_limits.spend(session, {rate_limits.INVITATIONS_BY_PERSON: str(user.id)})
    invitation = ChallengeInvitation(challenge_id=challenge.id, email=normalised, invited_by_id=user.id)
    session.add(invitation)
    link = f"{site}/invitations"
    outbox.put(
        session,
        to=normalised,
        template="invitation",
        inviter=user.name,
        challenge=challenge.title,
        link=link,
        site=site,
    )
    known_people = select(User.id).where(User.email == normalised, User.email_confirmed_at.is_not(None))
    notify(
        session,
        session.scalars(known_people).all(),
        NotificationKind.INVITATION,
        title=f"You are invited to organise “{challenge.title}”",
        link="/invitations",
        challenge_id=challenge.id,
    )
    details = {"email": normalised}
    audit.record(session, actor=user, action="challenge.invite", subject=challenge, details=details)
    return invitation


def withdraw_invitation(session: Session, *, challenge: Challenge, user: User, invitation_id: uuid.UUID) -> None:
    """Withdraw an invitation.

    Raises:
        NotFoundError: there is none, or it was accepted or declined meanwhile.
    """
    queries.lock_challenge(session, challenge.id)  # the person may be accepting it
    found = session.get(ChallengeInvitation, invitation_id, populate_existing=True)
    if found is None or found.challenge_id != challenge.id:
        raise NotFoundError("This invitation does not exist.")
    session.delete(found)
    details = {"email": found.email}
    audit.record(session, actor=user, action="challenge.withdraw_invitation", subject=challenge, details=details)


def accept(session: Session, *, user: User, invitation_id: uuid.UUID) -> Challenge:
    """Become an organiser of a challenge. A participant who accepts can organise it, but not create challenges.

    Raises:
        NotFoundError: the invitation is not this person's.
    """
    challenge = _answered(session, user, invitation_id)
    _add(session, challenge, user)
    audit.record(session, actor=user, action="challenge.accept_invitation", subject=challenge)
    return challenge


def decline(session: Session, *, user: User, invitation_id: uuid.UUID) -> None:
    """Refuse an invitation.

    Raises:
        NotFoundError: the invitation is not this person's.
    """
    challenge = _answered(session, user, invitation_id)
    audit.record(session, actor=user, action="challenge.decline_invitation", subject=challenge)


def add(session: Session, *, challenge: Challenge, person: User, user: User) -> None:
    """Make a person an organiser without asking, which operators can. Idempotent."""
    if session.get(ChallengeOrganiser, (challenge.id, person.id)) is None:
        _add(session, challenge, person)
        details = {"person": person.name, "user": str(person.id)}
        audit.record(session, actor=user, action="challenge.add_organiser", subject=challenge, details=details)


def remove(session: Session, *, challenge: Challenge, user: User, user_id: uuid.UUID) -> None:
    """Remove an organiser, which the owner can, or leave oneself.

    Invitations of somebody who is removed are withdrawn: otherwise, the person could come back with another account.

    Raises:
        NotFoundError: the person does not organise the challenge.
        ForbiddenError: the user is neither this person nor the owner of the challenge.
        ConflictError: the person owns the challenge.
    """
    queries.lock_challenge(session, challenge.id)
    found = _organiser(session, challenge, user_id)
    if user_id != user.id:
        _require_owner(session, challenge, user)
    if found.is_owner:
        raise ConflictError("The owner cannot be removed. Hand the challenge over to another organiser first.")
    person = session.get_one(User, user_id)
    session.delete(found)
    session.execute(delete(Webhook).where(Webhook.challenge_id == challenge.id, Webhook.user_id == user_id))
    if user_id != user.id:
        for invitation in invitations_to(session, challenge):
            if invitation.invited_by_id == user_id:
                withdraw_invitation(session, challenge=challenge, user=user, invitation_id=invitation.id)
    action = "challenge.leave" if user_id == user.id else "challenge.remove_organiser"
    details = {"person": person.name, "user": str(user_id)}
    audit.record(session, actor=user, action=action, subject=challenge, details=details)


def hand_over(session: Session, *, challenge: Challenge, user: User, user_id: uuid.UUID) -> None:
    """Make another organiser the owner; the earlier owner stays an organiser. Idempotent.

    Raises:
        NotFoundError: the person does not organise the challenge.
        ForbiddenError: the user does not own the challenge.
        ConflictError: the person cannot organise any more.
    """
    # First the person, as everywhere, who may be deleting the account.
    session.get(User, user_id, with_for_update={"key_share": True})
    queries.lock_challenge(session, challenge.id)
    _require_owner(session, challenge, user)
    found = _organiser(session, challenge, user_id)
    if found.is_owner:
        return
    person = session.get_one(User, user_id)
    if person.role is Role.PARTICIPANT or person.disabled_at is not None:
        raise ConflictError(f"{person.name} cannot organise challenges any more.")
    for other in session.scalars(
        select(ChallengeOrganiser).where(ChallengeOrganiser.challenge_id == challenge.id, ChallengeOrganiser.is_owner)
    ):
        other.is_owner = False
    session.flush()  # first: a challenge has one owner at any time
    found.is_owner = True
    details = {"person": person.name, "user": str(user_id)}
    audit.record(session, actor=user, action="challenge.hand_over", subject=challenge, details=details)


def is_owner(session: Session, challenge: Challenge, user: User) -> bool:
    """Whether a person may remove organisers and hand the challenge over: its owner and administrators."""
    if user.role is Role.ADMINISTRATOR:
        return True
    found = session.get(ChallengeOrganiser, (challenge.id, user.id))
    return found is not None and found.is_owner and user.role is not Role.PARTICIPANT


def _require_owner(session: Session, challenge: Challenge, user: User) -> None:
    if not is_owner(session, challenge, user):
        raise ForbiddenError("Only the owner of the challenge can do this.")


def _organiser(session: Session, challenge: Challenge, user_id: uuid.UUID) -> ChallengeOrganiser:
    found = session.get(ChallengeOrganiser, (challenge.id, user_id), populate_existing=True)
    if found is None:
        raise NotFoundError("This person does not organise the challenge.")
    return found


def _answered(session: Session, user: User, invitation_id: uuid.UUID) -> Challenge:
    """Take away an invitation that its person answers, and return the challenge."""
    found = session.get(ChallengeInvitation, invitation_id) if user.is_confirmed else None
    if found is None or found.email != user.email:
        raise NotFoundError("This invitation does not exist.")
    challenge = session.get_one(Challenge, found.challenge_id)
    queries.lock_challenge(session, challenge.id)
    taken = session.execute(
        delete(ChallengeInvitation).where(ChallengeInvitation.id == invitation_id).returning(ChallengeInvitation.id)
    ).one_or_none()
    if taken is None:  # answered or withdrawn at the same moment
        raise NotFoundError("This invitation does not exist.")
    return challenge


def _add(session: Session, challenge: Challenge, person: User) -> None:
    if session.get(ChallengeOrganiser, (challenge.id, person.id)) is None:
        session.add(ChallengeOrganiser(challenge_id=challenge.id, user_id=person.id))
    stored = session.get_one(User, person.id)
    if stored.role is Role.PARTICIPANT:
        stored.role = Role.CO_ORGANISER
        details = {"from": Role.PARTICIPANT.value, "to": Role.CO_ORGANISER.value}
        audit.record(session, actor=person, action="user.set_role", subject=stored, details=details)
    session.flush()
