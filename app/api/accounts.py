"""The user's own account, and registrations that wait for approval."""

import uuid
from typing import Any

from fastapi import Request, Response
from pydantic import BaseModel, ConfigDict, Field

from vocboard.app.accounts import registration, terms
from vocboard.app.accounts import service as accounts
from vocboard.app.accounts.models import Role, Scope, User
from vocboard.app.accounts.own_data import stored_about
from vocboard.app.accounts.viewer import Identity
from vocboard.app.api.documentation import AS_FILE
from vocboard.app.api.paging import ItemPage, Paging
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.values import FromObject, Given, Instant, without_defaults
from vocboard.app.intake.requests import client_address
from vocboard.app.participating import leaving
from vocboard.app.web.dependencies import AccountServiceDep, DatabaseDep, SettingsDep
from vocboard.app.web.identity import ApiIdentity, ApiOrganiser, ReadingUser, SubmittingUser

router = ApiRoutes()
REFUSALS = problem_responses(401, 403, 404, 409)
REFUSED_TERMS = problem_responses(400, 401, 403, 404, 409, 422)


class Me(BaseModel):
    """The owner of a token."""

    id: uuid.UUID
    email: str
    name: str
    affiliation: str
    role: Role
    scopes: list[Scope]
    email_confirmed: bool
    approved: bool


class AccountChanges(BaseModel):
    """Changes of the user's own account; what is left out stays."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=without_defaults)

    name: str = Field("", description="Name of the person. Submissions keep the names given with them.")
    affiliation: str = Field("", description="Affiliation, filled in for new submissions; empty for none.")


class NewAddress(Given):
    """A new email address of the user's own account."""

    email: str = Field(description="The link that changes the address is sent there.")
    password: str = Field(description="The present password.")


class AcceptedServerTerms(Given):
    """The terms of the server that the user accepts."""

    version: str = Field(description="As the problem `server_terms_not_accepted` names it, and the page `/terms`.")


class Deletion(Given):
    """How to delete the user's own account."""

    naming: leaving.Naming = Field(
        description="`keep_name`: published results keep the names that they were published with. `without_name`: "
        "contributors, affiliation, description and links are removed, on frozen leaderboards, too."
    )
    password: str = Field(description="The present password.")


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
    return _described(identity.token.user if identity.token else identity.require_user(), identity)


@router.patch("/account", responses=problem_responses(400, 401, 403, 422), tags=["account"])
def change_account(database: DatabaseDep, user: SubmittingUser, identity: ApiIdentity, changes: AccountChanges) -> Me:
    """Change the name or the affiliation of the user's own account. Tokens need the scope `submit`."""
    given = {"name": user.name, "affiliation": user.affiliation, **changes.model_dump(exclude_unset=True)}
    with database.writing() as session:
        changed = accounts.change_profile(session, user=user, **given)
    return _described(changed, identity)


@router.post("/account/terms", status_code=204, responses=REFUSED_TERMS, tags=["account"])
def accept_server_terms(
    database: DatabaseDep, settings: SettingsDep, user: SubmittingUser, given: AcceptedServerTerms
) -> None:
    """Accept the terms of the server (`/terms`). 409 if they have changed. Tokens need the scope `submit`."""
    with database.writing() as session:
        terms.accept(session, path=settings.terms_file, user=user, version=given.version)


@router.post("/account/email", status_code=202, responses=problem_responses(400, 401, 403, 422, 429), tags=["account"])
async def request_address(
    account_service: AccountServiceDep, request: Request, user: SubmittingUser, new: NewAddress
) -> None:
    """Send a link to a new email address; the address changes once its owner opens the link and signs in.

    The answer is the same whether or not the address has an account. Tokens need the scope `submit`.
    """
    await account_service.request_address(user, **new.model_dump(), address=client_address(request), field="password")


@router.delete("/account", status_code=204, responses=problem_responses(400, 401, 403, 409, 422, 429), tags=["account"])
async def delete_account(
    account_service: AccountServiceDep, request: Request, user: SubmittingUser, deletion: Deletion
) -> None:
    """Delete the user's own account. Unpublished submissions are withdrawn; published results stay.

    Owners of challenges hand them over first. Tokens need the scope `submit`.
    """
    given = {"naming": deletion.naming, "settings": account_service.settings}
    await account_service.verify(user, deletion.password, field="password", address=client_address(request))
    await account_service.write(leaving.delete_account, user=user, **given, actor=user)


@router.get("/account/export", responses=problem_responses(401, 403) | AS_FILE, tags=["account"])
def export_account(database: DatabaseDep, user: ReadingUser, response: Response) -> dict[str, list[dict[str, Any]]]:
    """Return what the server stores about the user, by table: also sessions, upload attempts and the user's actions.

    Passwords, secrets of tokens and links, and their hashes are left out. Archives and scores are in the submissions.
    """
    response.headers["Content-Disposition"] = 'attachment; filename="account.json"'
    with database.reading() as session:
        return stored_about(session, user)


def _described(user: User, identity: Identity) -> Me:
    return Me(
        id=user.id,
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
        found = registration.waiting(session, user, **paging.chosen)
        return paging.page_of(found, WaitingRegistration.model_validate)


@router.post("/registrations/{registration_id}/approve", status_code=204, responses=REFUSALS, tags=["registrations"])
def approve_registration(account_service: AccountServiceDep, user: ApiOrganiser, registration_id: uuid.UUID) -> None:
    """Approve a registration. The user may then submit results, and is notified by email."""
    account_service.approve_registration(registration_id, actor=user)


@router.post("/registrations/{registration_id}/reject", status_code=204, responses=REFUSALS, tags=["registrations"])
def reject_registration(account_service: AccountServiceDep, user: ApiOrganiser, registration_id: uuid.UUID) -> None:
    """Reject a registration. The account is disabled, and the user is notified by email."""
    account_service.reject_registration(registration_id, actor=user)
