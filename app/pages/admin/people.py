"""Everybody with an account: search, and what administrators do with one.

What gives rights, or cannot be undone, asks for the administrator's own password, as the account page does.
"""

import uuid
from enum import StrEnum
from functools import partial
from typing import Annotated

from anyio import to_thread
from fastapi import Depends, Form, Request
from pydantic import BaseModel
from sqlalchemy.orm import Session
from starlette.responses import Response

from vocboard.app.accounts import administration, second_factor
from vocboard.app.accounts.models import Role, User
from vocboard.app.administering import people
from vocboard.app.administering.people import AccountState, Filters
from vocboard.app.errors import InvalidInputError, ServiceError
from vocboard.app.intake.requests import client_address
from vocboard.app.pages.filters import chosen, page_number
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.participating.leaving import Naming
from vocboard.app.settings import Settings
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import AccountServiceDep, DatabaseDep, Services, ServicesDep
from vocboard.app.web.identity import Administrator
from vocboard.app.web.routes import Routes

router = Routes("/admin/people")


class Action(StrEnum):
    """What an administrator does with an account; the last part of the form's address."""

    ROLE = "role"
    DISABLE = "disable"
    ENABLE = "enable"
    SIGN_OUT = "sign-out"
    RESEND = "resend"
    REMOVE_SECOND_FACTOR = "remove-second-factor"
    DELETE = "delete"


NEED_PASSWORD = frozenset({Action.ROLE, Action.REMOVE_SECOND_FACTOR, Action.DELETE})


class ActionForm(BaseModel):
    """The form of an action.

    Attributes:
        password: the administrator's own.
    """

    role: str = ""
    naming: str = ""
    password: str = ""


@router.get("")
def people_page(request: Request, database: DatabaseDep, _: Administrator) -> Response:
    """Everybody with an account."""
    given = request.query_params
    role, state = chosen(Role, given.get("role", "")), chosen(AccountState, given.get("state", ""))
    filters = Filters(q=given.get("q", ""), role=role, state=state)
    with database.reading() as session:
        found = people.page_of_people(session, filters=filters, page=page_number(request))
    return render(
        request,
        "admin/people.html",
        page=found,
        filters=filters,
        roles=Role,
        states=AccountState,
        state_of=people.state_of,
    )


@router.get("/{user_id}")
def person_page(request: Request, services: ServicesDep, _: Administrator, user_id: uuid.UUID) -> Response:
    """One account."""
    return _page(request, services, user_id)


@router.post("/{user_id}/{action}", dependencies=[Depends(protect_form)])
async def act(
    request: Request,
    services: ServicesDep,
    account_service: AccountServiceDep,
    administrator: Administrator,
    user_id: uuid.UUID,
    action: Action,
    form: Annotated[ActionForm, Form()],
) -> Response:
    """Change an account."""

    def change() -> None:
        with services.database.writing() as session:
            user = people.locked(session, user_id)
            _change(session, action, form, user=user, actor=administrator, settings=services.settings)

    try:
        if action in NEED_PASSWORD:
            address = client_address(request)
            await account_service.verify(administrator, form.password, field="password", address=address)
        await to_thread.run_sync(change)
    except ServiceError as error:
        errors = FormErrors.of(error)
        return await to_thread.run_sync(partial(_page, request, services, user_id, action, form, errors))
    return go_to("/admin/people" if action is Action.DELETE else f"/admin/people/{user_id}", done=done_with(action))


def done_with(action: Action) -> str:
    """Return the key of the message after an action."""
    return {
        Action.ROLE: "role",
        Action.DISABLE: "disabled",
        Action.ENABLE: "enabled",
        Action.SIGN_OUT: "sessions",
        Action.RESEND: "resent",
        Action.REMOVE_SECOND_FACTOR: "factor-reset",
        Action.DELETE: "person-deleted",
    }[action]


def _change(session: Session, action: Action, form: ActionForm, *, user: User, actor: User, settings: Settings) -> None:
    site = settings.public_url
    match action:
        case Action.ROLE:
            role = chosen(Role, form.role)
            if role is None:
                raise InvalidInputError({"role": "Choose a role."})
            administration.set_role(session, user=user, role=role, actor=actor)
        case Action.DISABLE:
            administration.disable(session, user=user, actor=actor)
        case Action.ENABLE:
            people.enable(session, user=user, actor=actor, site=site)
        case Action.SIGN_OUT:
            administration.end_sessions(session, user=user, actor=actor)
        case Action.RESEND:
            administration.resend_confirmation(session, user=user, site=site, actor=actor)
        case Action.REMOVE_SECOND_FACTOR:
            second_factor.remove(session, user=user, site=site, actor=actor)
        case Action.DELETE:
            naming = chosen(Naming, form.naming)
            if naming is None:
                raise InvalidInputError({"naming": "Choose what happens to the name."})
            people.delete(session, user=user, naming=naming, actor=actor, settings=settings)


def _page(
    request: Request,
    services: Services,
    user_id: uuid.UUID,
    action: Action | None = None,
    form: ActionForm | None = None,
    errors: FormErrors = NO_ERRORS,
) -> Response:
    with services.database.reading() as session:
        person = people.details(session, user_id, services.settings)
    return render(
        request,
        "admin/person.html",
        errors=errors,
        person=person,
        roles=Role,
        naming=Naming,
        refused=action and action.value,
        form=(form or ActionForm(role=person.user.role.value)).model_dump(exclude={"password"}),
    )
