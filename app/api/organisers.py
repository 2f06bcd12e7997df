"""Who organises a challenge, and invitations to do so."""

import uuid

from fastapi import APIRouter

from vocboard.app.api.paging import DEFAULT_PER_PAGE, FIRST_PAGE, ItemPage, PageNumber, PerPage, item_page, page_of
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.organisers import Invitation, NewOrganiser, NewOwner, Organiser, OwnInvitation
from vocboard.app.challenges import organisers
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import ChallengeInvitation
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep, SettingsDep
from vocboard.app.web.identity import OrganisingUser, ReadingUser, SubmittingUser

router = APIRouter(tags=["organisers"])
CHANGING = problem_responses(400, 401, 403, 404, 409, 422)
INVITING = problem_responses(400, 401, 403, 404, 409, 422, 429)


@router.get("/challenges/{slug}/organisers", responses=problem_responses(401, 403, 404))
def list_organisers(
    database: DatabaseDep,
    user: OrganisingUser,
    slug: str,
    page: PageNumber = FIRST_PAGE,
    per_page: PerPage = DEFAULT_PER_PAGE,
) -> ItemPage[Organiser]:
    """List the organisers of a challenge, the owner first."""
    with database.reading() as session:
        found = organisers.organisers_of(session, challenges.get_organised(session, slug, user))
    return item_page(page_of(found, page=page, per_page=per_page), _organiser)


@router.get("/challenges/{slug}/invitations", responses=problem_responses(401, 403, 404))
def list_invitations(
    database: DatabaseDep,
    user: OrganisingUser,
    slug: str,
    page: PageNumber = FIRST_PAGE,
    per_page: PerPage = DEFAULT_PER_PAGE,
) -> ItemPage[Invitation]:
    """List invitations without an answer. They do not reveal whether an address has an account."""
    with database.reading() as session:
        found = organisers.invitations_to(session, challenges.get_organised(session, slug, user))
    return item_page(page_of(found, page=page, per_page=per_page), _invitation)


@router.post("/challenges/{slug}/invitations", status_code=201, responses=INVITING)
def invite_organiser(
    database: DatabaseDep,
    notifier: NotifierDep,
    settings: SettingsDep,
    user: OrganisingUser,
    slug: str,
    given: NewOrganiser,
) -> Invitation:
    """Invite a person by email to organise the challenge."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        invitation = organisers.invite(
            session, challenge=challenge, user=user, email=given.email, site=settings.public_url
        )
    notifier.mail_queued()
    return _invitation(invitation)


@router.delete("/challenges/{slug}/invitations/{invitation_id}", status_code=204, responses=CHANGING)
def withdraw_invitation(database: DatabaseDep, user: OrganisingUser, slug: str, invitation_id: uuid.UUID) -> None:
    """Withdraw an invitation."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        organisers.withdraw_invitation(session, challenge=challenge, user=user, invitation_id=invitation_id)


@router.delete("/challenges/{slug}/organisers/{user_id}", status_code=204, responses=CHANGING)
def remove_organiser(database: DatabaseDep, user: OrganisingUser, slug: str, user_id: uuid.UUID) -> None:
    """Remove an organiser. The owner can remove others; organisers can remove themselves."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        organisers.remove(session, challenge=challenge, user=user, user_id=user_id)


@router.put("/challenges/{slug}/owner", status_code=204, responses=CHANGING)
def hand_over(database: DatabaseDep, user: OrganisingUser, slug: str, given: NewOwner) -> None:
    """Make another organiser the owner. The previous owner remains an organiser."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        organisers.hand_over(session, challenge=challenge, user=user, user_id=given.user)


@router.get("/invitations", responses=problem_responses(401, 403))
def list_own_invitations(
    database: DatabaseDep, user: ReadingUser, page: PageNumber = FIRST_PAGE, per_page: PerPage = DEFAULT_PER_PAGE
) -> ItemPage[OwnInvitation]:
    """List invitations to you to organise challenges."""
    with database.reading() as session:
        found = organisers.invitations_of(session, user)
    return item_page(page_of(found, page=page, per_page=per_page), _own_invitation)


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


def _organiser(one: organisers.Organiser) -> Organiser:
    return Organiser(user=one.user.id, name=one.user.name, email=one.user.email, is_owner=one.is_owner)


def _invitation(found: ChallengeInvitation) -> Invitation:
    return Invitation(id=found.id, email=found.email, created_at=found.created_at)


def _own_invitation(found: ChallengeInvitation) -> OwnInvitation:
    return OwnInvitation(
        id=found.id,
        challenge=found.challenge.title,
        invited_by=found.invited_by.name if found.invited_by else None,
        created_at=found.created_at,
    )
