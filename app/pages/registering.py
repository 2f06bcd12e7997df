"""Registration and confirmation of the email address."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Request
from pydantic import BaseModel
from starlette.responses import Response

from vocboard.app.accounts import links
from vocboard.app.accounts.models import LinkPurpose
from vocboard.app.accounts.passwords import MIN_PASSWORD_LENGTH
from vocboard.app.errors import ServiceError
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to, safe_path
from vocboard.app.pages.rendering import render
from vocboard.app.pages.signing_in import attempt_of, with_session
from vocboard.app.settings import Settings
from vocboard.app.web import cookies
from vocboard.app.web.client import client_address
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import AccountServiceDep, DatabaseDep, SettingsDep, SignInServiceDep
from vocboard.app.web.identity import CurrentIdentity

router = APIRouter()


class RegistrationForm(BaseModel):
    """The registration form."""

    email: str = ""
    name: str = ""
    affiliation: str = ""
    password: str = ""
    next: str = "/"


class ConfirmationForm(BaseModel):
    """The form to confirm an email address."""

    token: str = ""
    password: str = ""


@router.get("/register")
def registration_page(request: Request, settings: SettingsDep, identity: CurrentIdentity, next: str = "/") -> Response:
    """Show the registration form."""
    if identity.user is not None:
        return go_to(safe_path(next))
    return _registration_page(request, settings, RegistrationForm(next=next), NO_ERRORS)


@router.post("/register", dependencies=[Depends(protect_form)])
async def register(
    request: Request,
    settings: SettingsDep,
    account_service: AccountServiceDep,
    _: CurrentIdentity,
    form: Annotated[RegistrationForm, Form()],
) -> Response:
    """Create an account; the response is the same if the email address already has one."""
    try:
        await account_service.register(**form.model_dump(exclude={"next"}), address=client_address(request))
    except ServiceError as error:
        return _registration_page(request, settings, form, FormErrors.of(error))
    response = go_to("/register/sent")
    cookies.set_return_to(response, settings, safe_path(form.next))
    return response


@router.get("/register/sent")
def sent_page(request: Request, settings: SettingsDep, _: CurrentIdentity) -> Response:
    """Explain what to do next; the same for everyone."""
    return render(request, "register_sent.html", mail_directory=settings.mail_directory)


@router.get("/confirm")
def confirmation_page(request: Request, database: DatabaseDep, _: CurrentIdentity, token: str = "") -> Response:
    """Show the form that confirms an email address, because opening a link must not change anything."""
    with database.reading() as session:
        links.owner(session, token, LinkPurpose.CONFIRM_ADDRESS)
    return _confirmation_page(request, token, NO_ERRORS)


@router.post("/confirm", dependencies=[Depends(protect_form)])
async def confirm(
    request: Request,
    settings: SettingsDep,
    account_service: AccountServiceDep,
    sign_in_service: SignInServiceDep,
    database: DatabaseDep,
    identity: CurrentIdentity,
    form: Annotated[ConfirmationForm, Form()],
) -> Response:
    """Confirm the email address that a link was sent to, with the password of the registration, and sign in.

    Link and password are more than signing in asks for, so the password is not asked for again.
    """
    try:
        user = await account_service.confirm_address(**form.model_dump(), address=client_address(request))
    except links.InvalidLinkError:
        raise
    except ServiceError as error:
        return _confirmation_page(request, form.token, FormErrors.of(error))
    wanted = safe_path(cookies.return_to(request, settings))
    query = "" if wanted == "/" else "?" + urlencode({"next": wanted})
    if not user.is_approved:
        return go_to(f"/sign-in{query}", done="waits")
    try:
        signed_in = await sign_in_service.sign_in(
            database, attempt_of(request, settings, identity, user.email, form.password)
        )
    except ServiceError:  # too many at the moment
        return go_to(f"/sign-in{query}", done="confirmed")
    return with_session(go_to(wanted, done="welcome"), settings, signed_in)


def _confirmation_page(request: Request, token: str, errors: FormErrors) -> Response:
    return render(request, "confirm.html", errors=errors, token=token)


def _registration_page(request: Request, settings: Settings, form: RegistrationForm, errors: FormErrors) -> Response:
    return render(
        request,
        "register.html",
        errors=errors,
        form=form.model_dump(exclude={"password", "next"}),
        next=safe_path(form.next),
        here=safe_path(form.next),
        policy=settings.registration_policy,
        min_password_length=MIN_PASSWORD_LENGTH,
    )
