"""Who organises a challenge, and invitations to do so."""

import uuid

from pydantic import AliasPath, BaseModel, Field

from vocboard.app.api.paging import ItemPage, Paging
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.values import FromObject, Given, Instant
from vocboard.app.challenges import organisers
from vocboard.app.challenges.models import ChallengeInvitation
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import ReadingUser, SubmittingUser
from vocboard.app.web.organised import OrganisedByToken

router = ApiRoutes(tags=["organisers"])
CHANGING = problem_responses(400, 401, 403, 404, 409, 422)
INVITING = problem_responses(400, 401, 403, 404, 409, 422, 429)


class Organiser(FromObject):
    """An organiser of a challenge."""

    user: uuid.UUID = Field(validation_alias=AliasPath("user", "id"))
    name: str = Field(validation_alias=AliasPath("user", "name"))
    email: str = Field(validation_alias=AliasPath("user", "email"))
    is_owner: bool = Field(description="Whether this person can remove organisers and hand the challenge over.")


class Invitation(FromObject):
    """An invitation that has been neither accepted nor declined."""

    id: uuid.UUID
    email: str
    created_at: Instant


class NewOrganiser(Given):
    """A person to invite as an organiser."""

    email: str = Field(max_length=254)


class NewOwner(Given):
    """The new owner of a challenge."""

    user: uuid.UUID = Field(description="Id of the user, who must be an organiser of the challenge.")


class OwnInvitation(BaseModel):
    """An invitation to organise a challenge."""

    id: uuid.UUID
    challenge: str = Field(description="Title of the challenge.")
    invited_by: str | None = Field(description="Name of the organiser who sent the invitation.")
    created_at: Instant


@router.get("/challenges/{slug}/organisers", responses=problem_responses(401, 403, 404))
def list_organisers(organised: OrganisedByToken, paging: Paging) -> ItemPage[Organiser]:
    """List the organisers of a challenge, the owner first."""
    with organised.reading() as (session, challenge):
        return paging.of(organisers.organisers_of(session, challenge), Organiser.model_validate)


@router.get("/challenges/{slug}/invitations", responses=problem_responses(401, 403, 404))
def list_invitations(organised: OrganisedByToken, paging: Paging) -> ItemPage[Invitation]:
    """List invitations without an answer. They do not reveal whether an address has an account."""
    with organised.reading() as (session, challenge):
        return paging.of(organisers.invitations_to(session, challenge), Invitation.model_validate)


@router.post("/challenges/{slug}/invitations", status_code=201, responses=INVITING)
def invite_organiser(organised: OrganisedByToken, given: NewOrganiser) -> Invitation:
    """Invite a person by email to organise the challenge."""
    invitation = organised.change(organisers.invite, email=given.email, site=organised.site)
    return Invitation.model_validate(invitation)


@router.delete("/challenges/{slug}/invitations/{invitation_id}", status_code=204, responses=CHANGING)
def withdraw_invitation(organised: OrganisedByToken, invitation_id: uuid.UUID) -> None:
    """Withdraw an invitation."""
    organised.change(organisers.withdraw_invitation, invitation_id=invitation_id)


@router.delete("/challenges/{slug}/organisers/{user_id}", status_code=204, responses=CHANGING)
def remove_organiser(organised: OrganisedByToken, user_id: uuid.UUID) -> None:
    """Remove an organiser. The owner can remove others; organisers can remove themselves."""
    organised.change(organisers.remove, user_id=user_id)


@router.put("/challenges/{slug}/owner", status_code=204, responses=CHANGING)
def hand_over(organised: OrganisedByToken, given: NewOwner) -> None:
    """Make another organiser the owner. The previous owner remains an organiser."""
    organised.change(organisers.hand_over, user_id=given.user)


@router.get("/invitations", responses=problem_responses(401, 403))
def list_own_invitations(database: DatabaseDep, user: ReadingUser, paging: Paging) -> ItemPage[OwnInvitation]:
    """List invitations to you to organise challenges."""
    with database.reading() as session:
        return paging.of(organisers.invitations_of(session, user), _own_invitation)


@router.post("/invitations/{invitation_id}/accept", status_code=204, responses=CHANGING)
def accept_invitation(database: DatabaseDep, user: SubmittingUser, invitation_id: uuid.UUID) -> None:
    """Accept an invitation: become an organiser of the challenge."""
    with database.writing() as session:
        organisers.accept(session, user=user, invitation_id=invitation_id)


@router.post("/invitations/{invitation_id}/decline", status_code=204, responses=CHANGING)
def decline_invitation(database: DatabaseDep, user: SubmittingUser, invitation_id: uuid.UUID) -> None:
    """Decline an invitation."""
    with database.writing() as session:
        organisers.decline(session, user=user, invitation_id=invitation_id)


def _own_invitation(found: ChallengeInvitation) -> OwnInvitation:
    return OwnInvitation(
        id=found.id,
        challenge=found.challenge.title,
        invited_by=found.invited_by.name if found.invited_by else None,
        created_at=found.created_at,
    )
