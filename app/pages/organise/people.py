"""Who organises a challenge: its organisers, invitations to others, and a person's own invitations."""

import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.challenges import organisers
from vocboard.app.challenges import service as challenges
from vocboard.app.database import Database
from vocboard.app.errors import ConflictError, InvalidInputError, LimitedError
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.transfer.importing_people import report_of
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep, SettingsDep
from vocboard.app.web.identity import Organiser, SignedIn

router = APIRouter()
PEOPLE = "/organise/{slug}/people"


@router.get(PEOPLE)
def people_page(request: Request, database: DatabaseDep, user: Organiser, slug: str) -> Response:
    """The organisers of a challenge, and whom they have invited."""
    return _page(request, database, user, slug)


@router.post(PEOPLE, dependencies=[Depends(protect_form)])
def invite(
    request: Request,
    database: DatabaseDep,
    notifier: NotifierDep,
    settings: SettingsDep,
    user: Organiser,
    slug: str,
    email: Annotated[str, Form()] = "",
) -> Response:
    """Invite somebody by email address."""
    try:
        with database.writing() as session:
            challenge = challenges.get_organised(session, slug, user)
            organisers.invite(session, challenge=challenge, user=user, email=email, site=settings.public_url)
    except (ConflictError, InvalidInputError, LimitedError) as error:
        return _page(request, database, user, slug, errors=FormErrors.of(error), email=email)
    notifier.mail_queued()
    return go_to(f"/organise/{slug}/people", done="invited")


@router.post(PEOPLE + "/invitations/{invitation_id}/withdraw", dependencies=[Depends(protect_form)])
def withdraw_invitation(database: DatabaseDep, user: Organiser, slug: str, invitation_id: uuid.UUID) -> Response:
    """Withdraw an invitation."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        organisers.withdraw_invitation(session, challenge=challenge, user=user, invitation_id=invitation_id)
    return go_to(f"/organise/{slug}/people", done="invitation-withdrawn")


@router.post(PEOPLE + "/{user_id}/remove", dependencies=[Depends(protect_form)])
def remove(request: Request, database: DatabaseDep, user: Organiser, slug: str, user_id: uuid.UUID) -> Response:
    """Remove an organiser, or leave."""
    try:
        with database.writing() as session:
            challenge = challenges.get_organised(session, slug, user)
            organisers.remove(session, challenge=challenge, user=user, user_id=user_id)
    except ConflictError as error:
        return _page(request, database, user, slug, errors=FormErrors.of(error))
    if user_id == user.id:
        return go_to("/organise", done="left")
    return go_to(f"/organise/{slug}/people", done="organiser-removed")


@router.post(PEOPLE + "/{user_id}/hand-over", dependencies=[Depends(protect_form)])
def hand_over(request: Request, database: DatabaseDep, user: Organiser, slug: str, user_id: uuid.UUID) -> Response:
    """Make another organiser the owner."""
    try:
        with database.writing() as session:
            challenge = challenges.get_organised(session, slug, user)
            organisers.hand_over(session, challenge=challenge, user=user, user_id=user_id)
    except ConflictError as error:
        return _page(request, database, user, slug, errors=FormErrors.of(error))
    return go_to(f"/organise/{slug}/people", done="handed-over")


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


def _page(
    request: Request, database: Database, user: User, slug: str, *, errors: FormErrors = NO_ERRORS, email: str = ""
) -> Response:
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        context: dict[str, Any] = {
            "challenge": challenge,
            "organisers": organisers.organisers_of(session, challenge),
            "invitations": organisers.invitations_to(session, challenge),
            "is_owner": organisers.is_owner(session, challenge, user),
            "report": report_of(session, challenge),
        }
    return render(
        request,
        "organise/people.html",
        errors=errors,
        form={"email": email},
        **context,
    )
