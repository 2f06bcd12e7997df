"""Teams in a challenge: members, invitations, and the links to join."""

import uuid

from pydantic import AliasPath, BaseModel, Field
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.values import ChallengeName, FromObject, Given, Instant
from vocboard.app.challenges import service as challenges
from vocboard.app.errors import NotFoundError
from vocboard.app.participating import teams
from vocboard.app.teams import queries
from vocboard.app.teams.models import TeamRole
from vocboard.app.web.dependencies import DatabaseDep, SettingsDep
from vocboard.app.web.identity import ReadingUser, SubmittingUser

router = ApiRoutes(tags=["teams"])
CHANGING = problem_responses(400, 401, 403, 404, 409, 422)
INVITING = problem_responses(400, 401, 403, 404, 409, 422, 429)


class Member(FromObject):
    """A member of a team."""

    user: uuid.UUID = Field(validation_alias=AliasPath("user", "id"))
    name: str = Field(validation_alias=AliasPath("user", "name"))
    role: TeamRole = Field(description="Owners also invite and remove members.")
    joined_at: Instant


class TeamInvitation(FromObject):
    """An invitation that can be accepted."""

    id: uuid.UUID
    email: str = Field(description="Where the link was sent; empty if a member passes it on.")
    created_at: Instant
    expires_at: Instant


class NewInvitation(TeamInvitation):
    """A new invitation, with its link, which is never shown again."""

    token: str
    link: str = Field(description="With it, one person can join the team, once.")


class Team(BaseModel):
    """Your team in a challenge."""

    id: uuid.UUID
    challenge: ChallengeName
    name: str = Field(description="Shown on leaderboards. Empty if you take part alone.")
    members: list[Member]
    invitations: list[TeamInvitation] = Field(description="Those that can be accepted.")


class TeamName(Given):
    """The name of a team."""

    name: str = Field(max_length=1000)


class Invited(Given):
    """Whom to invite."""

    email: str = Field(default="", max_length=254, description="Where to send the link; empty to pass it on yourself.")


class Joining(Given):
    """How to join."""

    bring_team: bool = Field(
        default=False, description="Whether all members, methods and submissions of your own team come along."
    )


class MemberRole(Given):
    """The role of a member."""

    role: TeamRole


@router.post("/challenges/{slug}/teams", status_code=201, responses=CHANGING)
def create_team(database: DatabaseDep, user: SubmittingUser, slug: str, given: TeamName) -> Team:
    """Found a team. Your methods and submissions in the challenge become the team's."""
    with database.writing() as session:
        challenge = challenges.get_visible(session, slug, user)
        return _team(session, teams.create(session, challenge=challenge, user=user, name=given.name).id, user)


@router.get("/challenges/{slug}/teams/mine", responses=problem_responses(401, 403, 404))
def own_team(database: DatabaseDep, user: ReadingUser, slug: str) -> Team:
    """Return your team. Who has neither submitted nor joined a team has none."""
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, user)
        team = queries.team_of(session, challenge.id, user)
        if team is None:
            raise NotFoundError("You have no team in this challenge.")
        return _team(session, team.id, user)


@router.patch("/teams/{team_id}", responses=CHANGING)
def rename_team(database: DatabaseDep, user: SubmittingUser, team_id: uuid.UUID, given: TeamName) -> Team:
    """Rename a team that you own. Frozen leaderboards keep the old name."""
    with database.writing() as session:
        teams.rename(session, team_id=team_id, user=user, name=given.name)
        return _team(session, team_id, user)


@router.post("/teams/{team_id}/invitations", status_code=201, responses=INVITING)
def invite_member(
    database: DatabaseDep,
    settings: SettingsDep,
    user: SubmittingUser,
    team_id: uuid.UUID,
    given: Invited,
) -> NewInvitation:
    """Invite somebody to a team that you own, by email or by a link that you pass on."""
    site = settings.public_url
    with database.writing() as session:
        found, token = teams.invite(session, team_id=team_id, user=user, email=given.email, site=site)
        shown = TeamInvitation.model_validate(found)
        return NewInvitation(**dict(shown), token=token, link=teams.address(site, token))


@router.delete("/teams/{team_id}/invitations/{invitation_id}", status_code=204, responses=CHANGING)
def withdraw_team_invitation(
    database: DatabaseDep, user: SubmittingUser, team_id: uuid.UUID, invitation_id: uuid.UUID
) -> None:
    """Withdraw an invitation to a team that you own."""
    with database.writing() as session:
        teams.withdraw_invitation(session, team_id=team_id, user=user, invitation_id=invitation_id)


@router.post("/team-invitations/{token}/accept", responses=CHANGING)
def accept_team_invitation(
    database: DatabaseDep, user: SubmittingUser, token: str, given: Joining | None = None
) -> Team:
    """Join a team. If you took part alone, your methods and submissions become the team's, too."""
    with database.writing() as session:
        team = teams.accept(session, token=token, user=user, bring_team=given is not None and given.bring_team)
        return _team(session, team.id, user)


@router.delete("/teams/{team_id}/members/{user_id}", status_code=204, responses=CHANGING)
def remove_member(database: DatabaseDep, user: SubmittingUser, team_id: uuid.UUID, user_id: uuid.UUID) -> None:
    """Leave a team, or remove a member: if you own it, or if the member is banned. Methods and submissions stay."""
    with database.writing() as session:
        teams.remove(session, team_id=team_id, user=user, user_id=user_id)


@router.put("/teams/{team_id}/members/{user_id}/role", responses=CHANGING)
def set_member_role(
    database: DatabaseDep, user: SubmittingUser, team_id: uuid.UUID, user_id: uuid.UUID, given: MemberRole
) -> Team:
    """Make a member of a team that you own an owner, or an owner a member."""
    with database.writing() as session:
        teams.set_role(session, team_id=team_id, user=user, user_id=user_id, role=given.role)
        return _team(session, team_id, user)


def _team(session: Session, team_id: uuid.UUID, user: User) -> Team:
    team = teams.get(session, team_id, user)
    return Team(
        id=team.id,
        challenge=team.challenge.slug,
        name=team.name,
        members=[Member.model_validate(member) for member in queries.members_of(session, team.id)],
        invitations=[TeamInvitation.model_validate(one) for one in teams.invitations_of(session, team.id)],
    )
