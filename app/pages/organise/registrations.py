"""Registrations waiting for approval, for administrators, or the only organiser of a server."""

import uuid

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from vocboard.app.accounts import registration
from vocboard.app.pages.forms import go_to
from vocboard.app.pages.rendering import render
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import AccountServiceDep, DatabaseDep, SettingsDep
from vocboard.app.web.identity import Creator

PATH = "/organise/registrations"

router = APIRouter(prefix=PATH)


@router.get("")
def registrations_page(request: Request, settings: SettingsDep, database: DatabaseDep, user: Creator) -> Response:
    """List registrations that are waiting for approval."""
    with database.reading() as session:
        waiting = registration.waiting(session, user)
    return render(request, "organise/registrations.html", waiting=waiting, policy=settings.registration_policy)


@router.post("/{user_id}/approve", dependencies=[Depends(protect_form)])
def approve(account_service: AccountServiceDep, organiser: Creator, user_id: uuid.UUID) -> Response:
    """Approve a registration."""
    account_service.approve_registration(user_id, actor=organiser)
    return go_to(PATH, done="approved")


@router.post("/{user_id}/reject", dependencies=[Depends(protect_form)])
def reject(account_service: AccountServiceDep, organiser: Creator, user_id: uuid.UUID) -> Response:
    """Reject a registration."""
    account_service.reject_registration(user_id, actor=organiser)
    return go_to(PATH, done="rejected")
