"""Registering, and confirming the e-mail address."""

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Depends, Form, Request
from pydantic import BaseModel
from starlette.responses import Response

from vocboard.app.accounts import links, registration
from vocboard.app.accounts.models import LinkPurpose, User
from vocboard.app.accounts.password_work import PasswordWork
from vocboard.app.accounts.passwords import LEAST_CHARACTERS
from vocboard.app.database import Database
from vocboard.app.errors import ServiceError
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.password_check import verify_password
from vocboard.app.pages.rendering import render
from vocboard.app.rate_limits.attempts import network
from vocboard.app.settings import Settings
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.identity import CurrentIdentity, client_address

router = APIRouter()


class RegistrationForm(BaseModel):
    """What a person types to register."""

    email: str = ""
    name: str = ""
    affiliation: str = ""
    password: str = ""


class ConfirmationForm(BaseModel):
    """What a person sends to confirm an e-mail address."""

    token: str = ""
    password: str = ""


@router.get("/register")
def registration_page(request: Request, identity: CurrentIdentity) -> Response:
    """The form to register."""
    return go_to("/") if identity.user is not None else _registration_page(request, RegistrationForm(), NO_ERRORS)


@router.post("/register", dependencies=[Depends(protect_form)])
async def register(request: Request, _: CurrentIdentity, form: Annotated[RegistrationForm, Form()]) -> Response:
    """Create an account; the answer is the same if the e-mail address has one."""
    settings: Settings = request.app.state.settings
    database: Database = request.app.state.database
    work: PasswordWork = request.app.state.password_work
    notifier: WorkerNotifier = request.app.state.notifier
    policy = settings.registration_policy
    address = client_address(request)

    def check() -> registration.Registration:
        checked = registration.check(**form.model_dump(), policy=policy)
        with database.writing() as session:
            registration.count_attempt(session, email=checked.email, address=address)
        return checked

    def store(checked: registration.Registration, password_hash: str) -> None:
        with database.writing() as session:
            registration.register(
                session, checked, password_hash=password_hash, policy=policy, site=settings.public_url
            )
        notifier.mail_queued()

    try:
        checked = await to_thread.run_sync(check)
        password_hash = await work.hashed(form.password, client=network(address))
        await to_thread.run_sync(store, checked, password_hash)
    except ServiceError as error:
        return _registration_page(request, form, FormErrors.of(error))
    return go_to("/register/sent")


@router.get("/register/sent")
def sent_page(request: Request, _: CurrentIdentity) -> Response:
    """What to do next; it says the same to everyone."""
    return render(request, "register_sent.html", mail_directory=request.app.state.settings.mail_directory)


@router.get("/confirm")
def confirmation_page(request: Request, _: CurrentIdentity, token: str = "") -> Response:
    """The form that confirms an e-mail address: opening a link changes nothing."""
    database: Database = request.app.state.database
    with database.reading() as session:
        links.owner(session, token, LinkPurpose.CONFIRM_ADDRESS)
    return _confirmation_page(request, token, NO_ERRORS)


@router.post("/confirm", dependencies=[Depends(protect_form)])
async def confirm(request: Request, _: CurrentIdentity, form: Annotated[ConfirmationForm, Form()]) -> Response:
    """Confirm the e-mail address that a link was sent to, with the password of the registration."""
    settings: Settings = request.app.state.settings
    database: Database = request.app.state.database
    notifier: WorkerNotifier = request.app.state.notifier

    def owner() -> User:
        with database.reading() as session:
            return links.owner(session, form.token, LinkPurpose.CONFIRM_ADDRESS)

    def finish() -> bool:
        with database.writing() as session:
            user = links.use(session, form.token, LinkPurpose.CONFIRM_ADDRESS)
            registration.confirm(session, user=user, site=settings.public_url)
        notifier.mail_queued()
        return user.is_approved

    try:
        await verify_password(request, await to_thread.run_sync(owner), form.password, field="password")
        is_approved = await to_thread.run_sync(finish)
    except links.InvalidLinkError:
        raise
    except ServiceError as error:
        return _confirmation_page(request, form.token, FormErrors.of(error))
    return go_to("/sign-in", done="confirmed" if is_approved else "waits")


def _confirmation_page(request: Request, token: str, errors: FormErrors) -> Response:
    return render(
        request, "confirm.html", status=errors.status, token=token, wrong=errors.wrong, message=errors.message
    )


def _registration_page(request: Request, form: RegistrationForm, errors: FormErrors) -> Response:
    return render(
        request,
        "register.html",
        status=errors.status,
        form=form.model_dump(exclude={"password"}),
        wrong=errors.wrong,
        message=errors.message,
        policy=request.app.state.settings.registration_policy,
        least_password_characters=LEAST_CHARACTERS,
    )
