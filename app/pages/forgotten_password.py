"""Password reset by email."""

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Depends, Form, Request
from pydantic import BaseModel
from starlette.background import BackgroundTask
from starlette.responses import Response

from vocboard.app.accounts import links
from vocboard.app.accounts.models import LinkPurpose
from vocboard.app.accounts.passwords import MIN_PASSWORD_LENGTH
from vocboard.app.database import Database
from vocboard.app.errors import ServiceError
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.web.client import client_address
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import AccountServiceDep, DatabaseDep, SettingsDep
from vocboard.app.web.identity import CurrentIdentity

router = APIRouter()


class RequestForm(BaseModel):
    """The form to request an email."""

    email: str = ""


class ResetForm(BaseModel):
    """The form to choose a new password."""

    token: str = ""
    new_password: str = ""


@router.get("/forgotten-password")
def request_page(request: Request, _: CurrentIdentity) -> Response:
    """Show the form to request an email."""
    return _request_page(request, RequestForm(), NO_ERRORS)


@router.post("/forgotten-password", dependencies=[Depends(protect_form)])
def request_reset(
    request: Request, account_service: AccountServiceDep, _: CurrentIdentity, form: Annotated[RequestForm, Form()]
) -> Response:
    """Send a link if the address has an account; the response is the same otherwise."""
    try:
        email = account_service.count_reset_request(email=form.email, address=client_address(request))
    except ServiceError as error:
        return _request_page(request, form, FormErrors.of(error))
    response = go_to("/forgotten-password/sent")
    # After the response, because the time would reveal whether there is an account.
    response.background = BackgroundTask(account_service.send_reset_link, email)
    return response


@router.get("/forgotten-password/sent")
def sent_page(request: Request, settings: SettingsDep, _: CurrentIdentity) -> Response:
    """Explain what to do next; the same for everyone."""
    return render(request, "forgotten_password_sent.html", mail_directory=settings.mail_directory)


@router.get("/reset-password")
def reset_page(request: Request, database: DatabaseDep, _: CurrentIdentity, token: str = "") -> Response:
    """The form to choose a new password."""
    return _reset_page(request, database, token, NO_ERRORS)


@router.post("/reset-password", dependencies=[Depends(protect_form)])
async def reset(
    request: Request,
    database: DatabaseDep,
    account_service: AccountServiceDep,
    _: CurrentIdentity,
    form: Annotated[ResetForm, Form()],
) -> Response:
    """Set the new password, confirm the address, and end all sessions and tokens."""
    try:
        await account_service.reset_password(**form.model_dump(), address=client_address(request))
    except links.InvalidLinkError:
        raise
    except ServiceError as error:
        return await to_thread.run_sync(_reset_page, request, database, form.token, FormErrors.of(error))
    return go_to("/sign-in", done="reset")


def _request_page(request: Request, form: RequestForm, errors: FormErrors) -> Response:
    return render(
        request,
        "forgotten_password.html",
        errors=errors,
        form=form.model_dump(),
    )


def _reset_page(request: Request, database: Database, token: str, errors: FormErrors) -> Response:
    with database.reading() as session:
        email = links.owner(session, token, LinkPurpose.RESET_PASSWORD).email
    return render(
        request,
        "reset_password.html",
        errors=errors,
        token=token,
        email=email,
        min_password_length=MIN_PASSWORD_LENGTH,
    )
