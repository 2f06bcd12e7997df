"""Who organises a challenge: its organisers, invitations to others, and a person's own invitations."""

import uuid
from typing import Annotated

from fastapi import Depends, Form, Request
from starlette.responses import Response

from vocboard.app.challenges import organisers
from vocboard.app.errors import ConflictError, InvalidInputError, LimitedError
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.transfer.importing_people import report_of
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import SignedIn
from vocboard.app.web.organised import Organised, OrganisedChallenge
from vocboard.app.web.routes import Routes

router = Routes()
PEOPLE = "/organise/{slug}/people"


@router.get(PEOPLE)
def people_page(organised: Organised) -> Response:
    """The organisers of a challenge, and whom they have invited."""
    return _page(organised)


@router.post(PEOPLE, dependencies=[Depends(protect_form)])
def invite(organised: Organised, email: Annotated[str, Form()] = "") -> Response:
    """Invite somebody by email address."""
    try:
        organised.change(organisers.invite, email=email, site=organised.site)
    except (ConflictError, InvalidInputError, LimitedError) as error:
        return _page(organised, errors=FormErrors.of(error), email=email)
    return go_to(f"/organise/{organised.slug}/people", done="invited")


@router.post(PEOPLE + "/invitations/{invitation_id}/withdraw", dependencies=[Depends(protect_form)])
def withdraw_invitation(organised: Organised, invitation_id: uuid.UUID) -> Response:
    """Withdraw an invitation."""
    organised.change(organisers.withdraw_invitation, invitation_id=invitation_id)
    return go_to(f"/organise/{organised.slug}/people", done="invitation-withdrawn")


@router.post(PEOPLE + "/{user_id}/remove", dependencies=[Depends(protect_form)])
def remove(organised: Organised, user_id: uuid.UUID) -> Response:
    """Remove an organiser, or leave."""
    try:
        organised.change(organisers.remove, user_id=user_id)
    except ConflictError as error:
        return _page(organised, errors=FormErrors.of(error))
    if user_id == organised.user.id:
        return go_to("/organise", done="left")
    return go_to(f"/organise/{organised.slug}/people", done="organiser-removed")


@router.post(PEOPLE + "/{user_id}/hand-over", dependencies=[Depends(protect_form)])
def hand_over(organised: Organised, user_id: uuid.UUID) -> Response:
    """Make another organiser the owner."""
    try:
        organised.change(organisers.hand_over, user_id=user_id)
    except ConflictError as error:
        return _page(organised, errors=FormErrors.of(error))
    return go_to(f"/organise/{organised.slug}/people", done="handed-over")


@router.get("/invitations")
def invitations_page(request: Request, database: DatabaseDep, user: SignedIn) -> Response:
    """The challenges that the person is invited to organise."""
    with database.reading() as session:
        found = organisers.invitations_of(session, user)
    return render(request, "invitations.html", invitations=found)


@router.post("/invitations/{invitation_id}/accept", dependencies=[Depends(protect_form)])
def accept(database: DatabaseDep, user: SignedIn, invitation_id: uuid.UUID) -> Response:
    """Become an organiser."""
    with database.writing() as session:
        challenge = organisers.accept(session, user=user, invitation_id=invitation_id)
    return go_to(f"/organise/{challenge.slug}", done="accepted")


@router.post("/invitations/{invitation_id}/decline", dependencies=[Depends(protect_form)])
def decline(database: DatabaseDep, user: SignedIn, invitation_id: uuid.UUID) -> Response:
    """Refuse an invitation."""
    with database.writing() as session:
        organisers.decline(session, user=user, invitation_id=invitation_id)
    return go_to("/invitations", done="declined")


def _page(organised: OrganisedChallenge, *, errors: FormErrors = NO_ERRORS, email: str = "") -> Response:
    with organised.reading() as (session, challenge):
        return render(
            organised.request,
            "organise/people.html",
            errors=errors,
            form={"email": email},
            challenge=challenge,
            organisers=organisers.organisers_of(session, challenge),
            invitations=organisers.invitations_to(session, challenge),
            is_owner=organisers.is_owner(session, challenge, organised.user),
            report=report_of(session, challenge),
        )
