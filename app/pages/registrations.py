"""Registrations waiting for approval, for organisers."""

import uuid

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from vocboard.app.accounts import administration, registration
from vocboard.app.pages.forms import go_to
from vocboard.app.pages.rendering import render
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep, SettingsDep
from vocboard.app.web.identity import Organiser

router = APIRouter()
PATH = "/organise/registrations"


@router.get(PATH)
def registrations_page(request: Request, settings: SettingsDep, database: DatabaseDep, _: Organiser) -> Response:
    """Who waits for approval."""
    with database.reading() as session:
        waiting = registration.waiting(session)
    return render(request, "organise/registrations.html", waiting=waiting, policy=settings.registration_policy)


@router.post(PATH + "/{user_id}/approve", dependencies=[Depends(protect_form)])
def approve(
    settings: SettingsDep, database: DatabaseDep, notifier: NotifierDep, organiser: Organiser, user_id: uuid.UUID
) -> Response:
    """Let a person submit."""
    with database.writing() as session:
        user = registration.registered(session, user_id)
        administration.approve(session, user=user, site=settings.public_url, actor=organiser)
    notifier.mail_queued()
    return go_to(PATH, done="approved")


@router.post(PATH + "/{user_id}/reject", dependencies=[Depends(protect_form)])
def reject(
    settings: SettingsDep, database: DatabaseDep, notifier: NotifierDep, organiser: Organiser, user_id: uuid.UUID
) -> Response:
    """Keep a person out."""
    with database.writing() as session:
        user = registration.registered(session, user_id)
        administration.reject(session, user=user, site=settings.public_url, actor=organiser)
    notifier.mail_queued()
    return go_to(PATH, done="rejected")
