"""The organisers' own lists: their challenges, and registrations that wait for approval."""

import uuid

from fastapi import Depends, Request
from starlette.responses import Response

from vocboard.app.accounts import registration
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.organisers import invitations_of
from vocboard.app.organising.waiting import waiting
from vocboard.app.pages.challenges import listed
from vocboard.app.pages.filters import page_number
from vocboard.app.pages.forms import go_to
from vocboard.app.pages.rendering import render
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import AccountServiceDep, DatabaseDep, SettingsDep
from vocboard.app.web.identity import Creator, Organiser
from vocboard.app.web.routes import Routes

router = Routes("/organise")


@router.get("")
def organised_challenges(request: Request, database: DatabaseDep, user: Organiser) -> Response:
    """List the challenges that the user organises."""
    with database.reading() as session:
        organised = challenges.organised_challenges(session, user)
        return render(
            request,
            "organise/challenges.html",
            challenges=listed(organised),
            waiting=waiting(session, [one.id for one in organised]),
            invitations=invitations_of(session, user),
            approves_registrations=registration.may_approve(session, user),
        )


@router.get("/registrations")
def registrations_page(request: Request, settings: SettingsDep, database: DatabaseDep, user: Creator) -> Response:
    """List registrations that are waiting for approval, for administrators or the only organiser of a server."""
    with database.reading() as session:
        waiting = registration.waiting(session, user, page=page_number(request))
    return render(
        request,
        "organise/registrations.html",
        waiting=waiting,
        policy=settings.registration_policy,
    )


@router.post("/registrations/{user_id}/approve", dependencies=[Depends(protect_form)])
def approve(account_service: AccountServiceDep, organiser: Creator, user_id: uuid.UUID) -> Response:
    """Approve a registration."""
    account_service.approve_registration(user_id, actor=organiser)
    return go_to("/organise/registrations", done="approved")


@router.post("/registrations/{user_id}/reject", dependencies=[Depends(protect_form)])
def reject(account_service: AccountServiceDep, organiser: Creator, user_id: uuid.UUID) -> Response:
    """Reject a registration."""
    account_service.reject_registration(user_id, actor=organiser)
    return go_to("/organise/registrations", done="rejected")
