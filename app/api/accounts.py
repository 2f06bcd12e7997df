"""The owner of a token, and registrations that wait for approval."""

import uuid

from fastapi import APIRouter
from pydantic import BaseModel, Field

from vocboard.app.accounts import registration
from vocboard.app.accounts.models import Role, Scope
from vocboard.app.api.paging import ItemPage, Paging
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.values import FromObject, Instant
from vocboard.app.web.dependencies import AccountServiceDep, DatabaseDep
from vocboard.app.web.identity import ApiIdentity, ApiOrganiser

router = APIRouter()
REFUSALS = problem_responses(401, 403, 404, 409)


class Me(BaseModel):
    """The owner of a token."""

    email: str
    name: str
    affiliation: str
    role: Role
    scopes: list[Scope]
    email_confirmed: bool
    approved: bool


class WaitingRegistration(FromObject):
    """A user with a confirmed email address who is waiting for an organiser's approval."""

    id: uuid.UUID
    email: str
    name: str
    affiliation: str
    registered_at: Instant = Field(validation_alias="created_at")


@router.get("/me", responses=problem_responses(401), tags=["account"])
def me(identity: ApiIdentity) -> Me:
    """Return the owner and the scopes of the token."""
    user = identity.token.user if identity.token else identity.require_user()
    return Me(
        email=user.email,
        name=user.name,
        affiliation=user.affiliation,
        role=user.role,
        scopes=[scope for scope in Scope if scope in identity.scopes],
        email_confirmed=user.is_confirmed,
        approved=user.is_approved,
    )


@router.get("/registrations", responses=problem_responses(401, 403), tags=["registrations"])
def list_registrations(database: DatabaseDep, user: ApiOrganiser, paging: Paging) -> ItemPage[WaitingRegistration]:
    """List users who have confirmed their email address and are waiting for approval, oldest first.

    Only administrators see them, and the organiser of a server that has a single one.
    """
    with database.reading() as session:
        return paging.of(registration.waiting(session, user), WaitingRegistration.model_validate)


@router.post("/registrations/{registration_id}/approve", status_code=204, responses=REFUSALS, tags=["registrations"])
def approve_registration(account_service: AccountServiceDep, user: ApiOrganiser, registration_id: uuid.UUID) -> None:
    """Approve a registration. The user may then submit results, and is notified by email."""
    account_service.approve_registration(registration_id, actor=user)


@router.post("/registrations/{registration_id}/reject", status_code=204, responses=REFUSALS, tags=["registrations"])
def reject_registration(account_service: AccountServiceDep, user: ApiOrganiser, registration_id: uuid.UUID) -> None:
    """Reject a registration. The account is disabled, and the user is notified by email."""
    account_service.reject_registration(registration_id, actor=user)
