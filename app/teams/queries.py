"""Which team a person is in, and who is in a team."""

import uuid
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, joinedload

from vocboard.app.accounts.models import User
from vocboard.app.challenges.bans import banned, bans_of_people
from vocboard.app.challenges.models import Challenge
from vocboard.app.errors import ForbiddenError, NotFoundError
from vocboard.app.teams.models import Team, TeamMember, TeamRole


def teams_of(user: User) -> Select[uuid.UUID]:
    """Return the query of the ids of a person's teams, in all challenges."""
    return select(TeamMember.team_id).where(TeamMember.user_id == user.id)


def team_of(session: Session, challenge_id: uuid.UUID, user: User) -> Team | None:
    """Return a person's team in a challenge; None for somebody who has neither submitted nor joined one."""
    query = select(Team).join(TeamMember, TeamMember.team_id == Team.id)
    return session.scalar(query.where(TeamMember.challenge_id == challenge_id, TeamMember.user_id == user.id))


def membership(session: Session, team_id: uuid.UUID, user: User | None) -> TeamMember | None:
    """Return a person's membership of a team."""
    if user is None:
        return None
    query = select(TeamMember).where(TeamMember.team_id == team_id, TeamMember.user_id == user.id)
    return session.scalar(query.execution_options(populate_existing=True))


def is_member(session: Session, team_id: uuid.UUID, user: User | None) -> bool:
    """Whether a person is in a team now."""
    if user is None:
        return False
    query = select(TeamMember.role).where(TeamMember.team_id == team_id, TeamMember.user_id == user.id)
    return session.scalar(query) is not None


def members_of(session: Session, team_id: uuid.UUID) -> Sequence[TeamMember]:
    """Return the members of a team with their accounts, in the order of joining."""
    return session.scalars(_current_members().where(TeamMember.team_id == team_id)).all()


def people_with(session: Session, challenge_id: uuid.UUID, user: User) -> Sequence[User]:
    """Return the people in a person's team in a challenge, and the person; alone without a team."""
    own = select(TeamMember.team_id).where(TeamMember.challenge_id == challenge_id, TeamMember.user_id == user.id)
    members = session.scalars(_current_members().where(TeamMember.team_id == own.scalar_subquery()))
    return [member.user for member in members] or [user]


def require_none_banned(session: Session, *, challenge_id: uuid.UUID, user: User, people: Sequence[User]) -> None:
    """Check that neither a person nor anybody in the person's team is banned from a challenge.

    Args:
        people: everybody in the team, and the person.

    Raises:
        ForbiddenError: who is banned, and why.
    """
    bans = bans_of_people(session, user_ids={user.id, *(person.id for person in people)}, challenge_id=challenge_id)
    if user.id in bans:
        raise banned(bans[user.id])
    for person in people:
        if person.id in bans:
            raise ForbiddenError(
                f"The organisers have banned {person.name}, who is in your team, from this challenge: "
                f"“{bans[person.id].reason}” Remove the person on the page of your team."
            )


def people_by_team(session: Session, team_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Sequence[User]]:
    """Return the members of teams, in the order of joining, by the team's id."""
    found: dict[uuid.UUID, list[User]] = {}
    for member in session.scalars(_members().where(TeamMember.team_id.in_(team_ids))):
        found.setdefault(member.team_id, []).append(member.user)
    return found


def locked_team_of(session: Session, challenge: Challenge, user: User) -> tuple[Team, Sequence[User]]:
    """Return a person's team in a challenge, locked, and the people in it; a new team for somebody who has none.

    The caller has locked the person. Who holds a team's lock decides alone on its quota and its members.

    Raises:
        NotFoundError: the challenge was deleted after it had been read.
    """
    while (team := team_of(session, challenge.id, user)) is not None:
        lock_team(session, team.id)
        people = [member.user for member in members_of(session, team.id)]
        if user.id in {person.id for person in people}:  # not removed, or merged into another team, meanwhile
            return team, people
    present = select(Challenge.id).where(Challenge.id == challenge.id)
    if session.scalar(present.with_for_update(read=True, key_share=True)) is None:
        raise NotFoundError("This challenge does not exist.")  # it was a draft that was deleted just now
    team = Team(challenge_id=challenge.id)
    session.add(team)
    session.flush()
    session.add(TeamMember(challenge_id=challenge.id, user_id=user.id, team_id=team.id, role=TeamRole.OWNER))
    session.flush()
    return team, [user]


def lock_team(session: Session, team_id: uuid.UUID) -> None:
    """Lock a team to the end of the transaction. Several are locked in the order of their ids."""
    session.execute(select(Team.id).where(Team.id == team_id).with_for_update(key_share=True))


def _members() -> Select[TeamMember]:
    query = select(TeamMember).options(joinedload(TeamMember.user))
    return query.order_by(TeamMember.joined_at, TeamMember.user_id)


def _current_members() -> Select[TeamMember]:
    return _members().execution_options(populate_existing=True)
