"""Registrations waiting for approval, for administrators, or the only organiser of a server."""

import uuid

from fastapi import APIRouter

from vocboard.app.accounts import registration
from vocboard.app.accounts.models import User
from vocboard.app.api.paging import DEFAULT_PER_PAGE, FIRST_PAGE, ItemPage, PageNumber, PerPage, item_page, page_of
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.accounts import WaitingRegistration
from vocboard.app.web.dependencies import AccountServiceDep, DatabaseDep
from vocboard.app.web.identity import ApiOrganiser

router = APIRouter(tags=["registrations"])
REFUSALS = problem_responses(401, 403, 404, 409)


@router.get("/registrations", responses=problem_responses(401, 403))
def list_registrations(
    database: DatabaseDep,
    user: ApiOrganiser,
    page: PageNumber = FIRST_PAGE,
    per_page: PerPage = DEFAULT_PER_PAGE,
) -> ItemPage[WaitingRegistration]:
    """List users who have confirmed their email address and are waiting for approval, oldest first.

    Only administrators see them, and the organiser of a server that has a single one.
    """
    with database.reading() as session:
        waiting = registration.waiting(session, user)
    return item_page(page_of(waiting, page=page, per_page=per_page), _waiting)


@router.post("/registrations/{registration_id}/approve", status_code=204, responses=REFUSALS)
def approve_registration(account_service: AccountServiceDep, user: ApiOrganiser, registration_id: uuid.UUID) -> None:
    """Approve a registration. The user may then submit results, and is notified by email."""
    account_service.approve_registration(registration_id, actor=user)


@router.post("/registrations/{registration_id}/reject", status_code=204, responses=REFUSALS)
def reject_registration(account_service: AccountServiceDep, user: ApiOrganiser, registration_id: uuid.UUID) -> None:
    """Reject a registration. The account is disabled, and the user is notified by email."""
    account_service.reject_registration(registration_id, actor=user)


def _waiting(person: User) -> WaitingRegistration:
    return WaitingRegistration(
        id=person.id,
        email=person.email,
        name=person.name,
        affiliation=person.affiliation,
        registered_at=person.created_at,
    )
