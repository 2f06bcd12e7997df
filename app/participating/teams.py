"""Teams: naming, inviting, joining, leaving and handing over.

A person is in at most one team of a challenge. Somebody who joins from a team of one brings methods and submissions
along, and the owner of a larger team can bring all of it; otherwise what was submitted stays with the team.
`SubmissionPerson` records whom a submission counts for, so none of this changes anybody's quota or Ladder.
"""

import uuid
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session, joinedload

from vocboard.app import rate_limits
from vocboard.app.accounts.models import User
from vocboard.app.accounts.people import valid_email
from vocboard.app.accounts.registration import require_confirmed
from vocboard.app.accounts.secret_tokens import digest, new_secret
from vocboard.app.audit import service as audit
from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges.bans import bans_of_people
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import require_not_archived
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from vocboard.app.forms import FieldChecks
from vocboard.app.leaderboards import freezing
from vocboard.app.messaging import outbox
from vocboard.app.notifications.models import NotificationKind
from vocboard.app.notifications.service import notify
from vocboard.app.participating.locking import lock_person
from vocboard.app.submissions.models import Method, Submission
from vocboard.app.teams.models import MAX_NAME_LENGTH, Team, TeamInvitation, TeamMember, TeamRole
from vocboard.app.teams.queries import (
    lock_team,
    locked_team_of,
    members_of,
    membership,
    people_with,
    require_none_banned,
    team_of,
)

INVITATION_LIFETIME = timedelta(days=14)
_NO_INVITATION = "This invitation does not exist: it was used or withdrawn, or has expired. Ask for another one."


def address(site: str, token: str) -> str:
    """Return the address of an invitation's page.

    Args:
        site: the address of this server.
    """
    return f"{site}/team-invitations/{token}"


def get(session: Session, team_id: uuid.UUID, user: User) -> Team:
    """Return a team that the person is in, with its challenge.

    Raises:
        NotFoundError: the person is in no such team.
    """
    query = select(Team).where(Team.id == team_id)
    team = session.scalar(query.options(joinedload(Team.challenge).selectinload(Challenge.phases)))
    if team is None or membership(session, team_id, user) is None:
        raise NotFoundError("You are in no such team.")
    return team


def create(session: Session, *, challenge: Challenge, user: User, name: str) -> Team:
    """Found a team: give the person's team of one a name, which shows on leaderboards and lets it invite others.

    Frozen leaderboards go without it.

    Raises:
        InvalidInputError: on `name`.
        ConflictError: the person is in a named team, or the challenge does not take teams (now).
        ForbiddenError: the person is banned.
    """
    _require_open(challenge)
    lock_person(session, user.id)
    team, people = locked_team_of(session, challenge, user)
    require_none_banned(session, challenge_id=challenge.id, user=user, people=people)
    if team.name:
        raise ConflictError(f"You are in the team “{team.name}” already. Leave it first.")
    found = _checked_name(session, team, name)
    freezing.freeze_due(session, challenge)
    team.name = found
    audit.record(session, actor=user, action="team.create", subject=team, details={"team": team.name})
    return team


def rename(session: Session, *, team_id: uuid.UUID, user: User, name: str) -> Team:
    """Give a team another name. Frozen leaderboards keep the old one.

    Raises:
        NotFoundError, ForbiddenError: the person does not own the team.
        InvalidInputError: on `name`.
        ConflictError: teams of the challenge can no longer change.
    """
    team = _owned(session, team_id, user)
    found = _checked_name(session, team, name)
    freezing.freeze_due(session, team.challenge)
    before, team.name = team.name, found
    if team.name != before:
        details = {"from": before, "to": team.name}
        audit.record(session, actor=user, action="team.rename", subject=team, details=details)
    return team


def invite(
    session: Session, *, team_id: uuid.UUID, user: User, email: str = "", site: str
) -> tuple[TeamInvitation, str]:
    """Invite somebody, and return the invitation with the secret of its link. One person who has the link can join.

    Args:
        email: where to send the link; empty for a link that the person passes on.
        site: the address of this server.

    Raises:
        NotFoundError, ForbiddenError: the person does not own the team.
        InvalidInputError: on `email`.
        NotConfirmedError, NotApprovedError: the person may not submit.
        ConflictError: the team is full with those who are invited, or teams of the challenge can no longer change.
        LimitedError: the person has sent too many invitations.
    """
    require_confirmed(user)
    team = _owned(session, team_id, user)
    normalised = valid_email(email) if email else ""
    waiting = len(invitations_of(session, team.id))
    if len(members_of(session, team.id)) + waiting >= team.challenge.team_size:
        raise ConflictError(
            f"A team of this challenge has at most {team.challenge.team_size} members, and the invitations that wait "
            "count. Withdraw one of them first."
        )
    rate_limits.spend(session, {rate_limits.INVITATIONS_BY_PERSON: str(user.id)})
    token = new_secret()
    invitation = TeamInvitation(
        team_id=team.id,
        email=normalised,
        token_hash=digest(token),
        expires_at=now() + INVITATION_LIFETIME,
        invited_by_id=user.id,
    )
    session.add(invitation)
    if normalised:
        outbox.put(
            session,
            to=normalised,
            template="team-invitation",
            lifetime=INVITATION_LIFETIME,
            inviter=user.name,
            team=team.name,
            challenge=team.challenge.title,
            link=address(site, token),
            days=INVITATION_LIFETIME.days,
            site=site,
        )
    audit.record(session, actor=user, action="team.invite", subject=team, details={"email": normalised})
    return invitation, token


def invitations_of(session: Session, team_id: uuid.UUID) -> Sequence[TeamInvitation]:
    """Return the invitations of a team that can be accepted, the latest first."""
    query = select(TeamInvitation).where(TeamInvitation.team_id == team_id, TeamInvitation.expires_at > now())
    return session.scalars(query.order_by(TeamInvitation.created_at.desc(), TeamInvitation.id)).all()


def withdraw_invitation(session: Session, *, team_id: uuid.UUID, user: User, invitation_id: uuid.UUID) -> None:
    """Withdraw an invitation. Idempotent.

    Raises:
        NotFoundError, ForbiddenError: the person does not own the team.
    """
    team = _owned(session, team_id, user, even_closed=True)
    session.execute(delete(TeamInvitation).where(TeamInvitation.id == invitation_id, TeamInvitation.team_id == team.id))


def invitation_with(session: Session, token: str, user: User) -> TeamInvitation:
    """Return the invitation of a link, with its team, challenge and inviter, for a person who has the link.

    Raises:
        NotFoundError: there is none, or the person may not see the challenge.
    """
    query = (
        select(TeamInvitation)
        .where(TeamInvitation.token_hash == digest(token), TeamInvitation.expires_at > now())
        .options(
            joinedload(TeamInvitation.team).joinedload(Team.challenge).selectinload(Challenge.phases),
            joinedload(TeamInvitation.invited_by),
        )
    )
    found = session.scalar(query)
    if found is None:
        raise NotFoundError(_NO_INVITATION)
    if not challenge_queries.is_visible_to(session, found.team.challenge_id, user):
        raise NotFoundError(
            "Only people whom the organisers have admitted can see this challenge. Once they have admitted you, open "
            "this link again."
        )
    return found


def accept(session: Session, *, token: str, user: User, bring_team: bool = False) -> Team:
    """Join a team.

    Args:
        bring_team: whether the owner of another team brings all of it along.

    Raises:
        NotFoundError: there is no such invitation.
        ConflictError: the person is in the team already, or in another one that does not come along; the team would
            have too many members or two methods of one name; teams of the challenge can no longer change.
        ForbiddenError: the person is banned.
    """
    lock_person(session, user.id)
    team = invitation_with(session, token, user).team
    before = team_of(session, team.challenge_id, user)
    own_id = before and before.id
    for team_id in sorted({team.id} | ({own_id} if own_id else set())):
        lock_team(session, team_id)
    session.expire_all()
    invitation = invitation_with(session, token, user)  # neither used nor withdrawn meanwhile
    team, challenge = invitation.team, invitation.team.challenge
    _require_open(challenge)
    require_none_banned(session, challenge_id=challenge.id, user=user, people=people_with(session, challenge.id, user))
    own = team_of(session, challenge.id, user)
    if (own and own.id) != own_id:
        raise ConflictError("Your team has just changed. Open the invitation again.")
    if own is not None and own.id == team.id:
        raise ConflictError(f"You are in the team “{team.name}” already.")
    coming = members_of(session, own.id) if own else ()
    _require_room(session, team, max(len(coming), 1), challenge)
    if own is None:
        session.add(TeamMember(challenge_id=challenge.id, user_id=user.id, team_id=team.id, role=TeamRole.MEMBER))
    else:
        if len(coming) > 1:
            _require_brought(own, coming, user, bring_team=bring_team)
        _merge(session, own, team, challenge)
    session.delete(invitation)
    _tell(session, team, user, user, f"{user.name} has joined the team “{team.name}”")
    details = {"team": team.name, "members": max(len(coming), 1)}
    audit.record(session, actor=user, action="team.join", subject=team, details=details)
    return team


def remove(session: Session, *, team_id: uuid.UUID, user: User, user_id: uuid.UUID) -> None:
    """Leave a team, or remove somebody from it, which owners can. What was submitted stays with the team.

    Who is banned can go at any time and be removed by any member, because the team takes no part until then; if that
    was the only owner, the member becomes one. Invitations of somebody who is removed are withdrawn: otherwise, the
    person could come back by one.

    Raises:
        NotFoundError: the person is not in the team, or there is no such member.
        ForbiddenError: the person does not own the team, and the member is not banned.
        ConflictError: it is its only member, or its only owner; teams of the challenge can no longer change.
    """
    team = get(session, team_id, user)
    is_banned = bool(bans_of_people(session, user_ids=[user_id], challenge_id=team.challenge_id))
    if user_id != user.id and not is_banned:
        team = _owned(session, team_id, user, even_closed=True)
    if is_banned:
        require_not_archived(team.challenge)
    else:
        _require_open(team.challenge, leaves=True)
    lock_team(session, team.id)
    members = {member.user_id: member for member in members_of(session, team.id)}
    leaving = members.get(user_id)
    if leaving is None:
        raise NotFoundError("The team has no such member.")
    if len(members) == 1:
        raise ConflictError("You are the only member of the team.")
    if not any(one.role is TeamRole.OWNER for one in members.values() if one.user_id != user_id):
        if user_id == user.id or user.id not in members:
            raise ConflictError("A team needs an owner. Make another member its owner first.")
        members[user.id].role = TeamRole.OWNER
    session.delete(leaving)
    session.flush()
    if user_id == user.id:
        _tell(session, team, user, user, f"{user.name} has left the team “{team.name}”")
    else:
        own = TeamInvitation.team_id == team.id, TeamInvitation.invited_by_id == user_id
        session.execute(delete(TeamInvitation).where(*own))
        title = f"{leaving.user.name} was removed from the team “{team.name}”"
        _tell(session, team, user, leaving.user, title, also=user_id)
    action = "team.leave" if user_id == user.id else "team.remove"
    details = {"team": team.name, "person": leaving.user.name, "user": str(user_id)}
    audit.record(session, actor=user, action=action, subject=team, details=details)


def set_role(session: Session, *, team_id: uuid.UUID, user: User, user_id: uuid.UUID, role: TeamRole) -> None:
    """Make a member an owner, or an owner a member, also oneself, which owners can.

    Raises:
        NotFoundError, ForbiddenError: the person does not own the team, or there is no such member.
        ConflictError: nobody would own the team.
    """
    team = _owned(session, team_id, user, even_closed=True)
    members = {member.user_id: member for member in members_of(session, team.id)}
    if user_id not in members:
        raise NotFoundError("The team has no such member.")
    members[user_id].role = role
    if not any(one.role is TeamRole.OWNER for one in members.values()):
        raise ConflictError("A team needs an owner. Make another member its owner first.")
    details = {"team": team.name, "person": members[user_id].user.name, "role": role.value}
    audit.record(session, actor=user, action="team.set_role", subject=team, details=details)


def _tell(session: Session, team: Team, actor: User, about: User, title: str, *, also: uuid.UUID | None = None) -> None:
    """Tell the other members of a team about a change, and who is in it no longer."""
    others = [one.user_id for one in members_of(session, team.id) if one.user_id != actor.id]
    notify(
        session,
        others if also is None else [*others, also],
        NotificationKind.TEAM,
        title=title,
        link=f"/challenges/{session.get_one(Challenge, team.challenge_id).slug}/team",
        challenge_id=team.challenge_id,
        about_id=about.id,
    )


def _owned(session: Session, team_id: uuid.UUID, user: User, *, even_closed: bool = False) -> Team:
    """Return a team that the person owns, locked."""
    team = get(session, team_id, user)
    lock_team(session, team.id)
    member = membership(session, team.id, user)
    if member is None or member.role is not TeamRole.OWNER:
        raise ForbiddenError("Only owners of the team can do this.")
    if even_closed:
        require_not_archived(team.challenge)
    else:
        _require_open(team.challenge)
    if not team.name:
        raise ConflictError("Give the team a name first.")
    return team


def _require_open(challenge: Challenge, *, leaves: bool = False) -> None:
    """Check that teams of a challenge can change now; members can leave also if organisers have ended teams since."""
    require_not_archived(challenge)
    if challenge.team_size < 2 and not leaves:  # a team of one is a person
        raise ConflictError("In this challenge, everybody takes part alone.")
    until = challenge.teams_until
    if until is not None and until <= now():
        raise ConflictError(f"Teams of this challenge could change until {until:%Y-%m-%d %H:%M} UTC.")


def _checked_name(session: Session, team: Team, name: str) -> str:
    checks = FieldChecks()
    found = checks.line("name", name, max_length=MAX_NAME_LENGTH, required=True)
    checks.finish()
    challenge_queries.lock_challenge(session, team.challenge_id)
    others = select(Team.id).where(Team.challenge_id == team.challenge_id, Team.id != team.id)
    same = others.where(func.lower(Team.name) == func.lower(found))
    if session.scalar(same.limit(1)) is not None:
        raise InvalidInputError({"name": "The challenge has a team of this name."})
    return found


def _require_room(session: Session, team: Team, number: int, challenge: Challenge) -> None:
    if len(members_of(session, team.id)) + number > challenge.team_size:
        raise ConflictError(f"A team of this challenge has at most {challenge.team_size} members.")


def _require_brought(own: Team, members: Sequence[TeamMember], user: User, *, bring_team: bool) -> None:
    is_owner = any(one.user_id == user.id and one.role is TeamRole.OWNER for one in members)
    if bring_team and is_owner:
        return
    choice = " Leave it first, or bring all of it along." if is_owner else " Leave it first."
    raise ConflictError(f"You are in the team “{own.name}”.{choice}")


def _merge(session: Session, source: Team, target: Team, challenge: Challenge) -> None:
    """Move all members, methods and submissions of a team to another one."""
    freezing.freeze_due(session, challenge_queries.challenge_as_it_is(session, challenge.id))
    of_source = select(Submission.id).where(Submission.team_id == source.id)
    session.execute(of_source.order_by(Submission.id).with_for_update())
    of_both = select(Method.id).where(Method.team_id.in_((source.id, target.id))).order_by(Method.id)
    session.execute(of_both.with_for_update())  # members may just be renaming some
    of_target = select(Method.name).where(Method.team_id == target.id)
    same = session.scalars(select(Method.name).where(Method.team_id == source.id, Method.name.in_(of_target))).all()
    if same:
        raise ConflictError(
            f"Both teams have a method of the name {', '.join(f'“{name}”' for name in same)}. Rename yours first."
        )
    session.execute(update(Method).where(Method.team_id == source.id).values(team_id=target.id))
    session.execute(update(Submission).where(Submission.team_id == source.id).values(team_id=target.id))
    session.execute(
        update(TeamMember).where(TeamMember.team_id == source.id).values(team_id=target.id, role=TeamRole.MEMBER)
    )
    session.execute(delete(Team).where(Team.id == source.id))
    session.expire_all()
