"""Registrations waiting for approval, for organisers."""

import uuid

from fastapi import APIRouter

from vocboard.app.accounts import administration, registration
from vocboard.app.accounts.models import User
from vocboard.app.api.paging import DEFAULT_PER_PAGE, FIRST_PAGE, ItemPage, PageNumber, PerPage, item_page, page_of
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.accounts import WaitingRegistration
from vocboard.app.errors import ForbiddenError
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep, SettingsDep
from vocboard.app.web.identity import ApiIdentity, OrganisingUser

router = APIRouter(tags=["registrations"])
REFUSALS = problem_responses(401, 403, 404, 409)


@router.get("/registrations", responses=problem_responses(401, 403))
def list_registrations(
    database: DatabaseDep,
    _user: OrganisingUser,
    identity: ApiIdentity,
    page: PageNumber = FIRST_PAGE,
    per_page: PerPage = DEFAULT_PER_PAGE,
) -> ItemPage[WaitingRegistration]:
    """The people who have confirmed their e-mail address and wait for approval, the longest first."""
    _require_organiser(identity)
    with database.reading() as session:
        waiting = registration.waiting(session)
    return item_page(page_of(waiting, page=page, per_page=per_page), _waiting)


@router.post(
    "/registrations/{registration_id}/approve", status_code=204, responses=problem_responses(401, 403, 404, 409)
)
def approve_registration(
    settings: SettingsDep,
    database: DatabaseDep,
    notifier: NotifierDep,
    user: OrganisingUser,
    identity: ApiIdentity,
    registration_id: uuid.UUID,
) -> None:
    """Let a person submit; an e-mail tells them."""
    _require_organiser(identity)
    with database.writing() as session:
        person = registration.registered(session, registration_id)
        administration.approve(session, user=person, site=settings.public_url, actor=user)
    notifier.mail_queued()


@router.post(
    "/registrations/{registration_id}/reject", status_code=204, responses=problem_responses(401, 403, 404, 409)
)
def reject_registration(
    settings: SettingsDep,
    database: DatabaseDep,
    notifier: NotifierDep,
    user: OrganisingUser,
    identity: ApiIdentity,
    registration_id: uuid.UUID,
) -> None:
    """Keep a person out; an e-mail tells them."""
    _require_organiser(identity)
    with database.writing() as session:
        person = registration.registered(session, registration_id)
        administration.reject(session, user=person, site=settings.public_url, actor=user)
    notifier.mail_queued()


def _require_organiser(identity: ApiIdentity) -> None:
    if not identity.may_organise:
        raise ForbiddenError("Only organisers can do this.")


def _waiting(person: User) -> WaitingRegistration:
    return WaitingRegistration(
        id=person.id,
        email=person.email,
        name=person.name,
        affiliation=person.affiliation,
        registered_at=person.created_at,
    )
