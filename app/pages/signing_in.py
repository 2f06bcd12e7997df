"""Signing in and out."""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from pydantic import BaseModel
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from vocboard.app.accounts import service as accounts
from vocboard.app.accounts.signing_in import Attempt, SignedIn
from vocboard.app.errors import ServiceError
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to, safe_path
from vocboard.app.pages.rendering import render
from vocboard.app.settings import Settings
from vocboard.app.web import cookies
from vocboard.app.web.client import client_address
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, SettingsDep, SignInServiceDep
from vocboard.app.web.identity import CurrentIdentity
from vocboard.app.web.problem_details import details_of
from vocboard.app.web.viewer import Identity

router = APIRouter()


class SignInForm(BaseModel):
    """The sign-in form."""

    email: str = ""
    password: str = ""
    next: str = "/"


@router.get("/sign-in")
def sign_in_page(request: Request, identity: CurrentIdentity, next: str = "/") -> Response:
    """Show the sign-in form."""
    if identity.user is not None:
        return go_to(safe_path(next))
    return _sign_in_page(request, SignInForm(next=safe_path(next)), NO_ERRORS)


@router.post("/sign-in", dependencies=[Depends(protect_form)])
async def sign_in(
    request: Request,
    settings: SettingsDep,
    sign_in_service: SignInServiceDep,
    database: DatabaseDep,
    identity: CurrentIdentity,
    form: Annotated[SignInForm, Form()],
) -> Response:
    """Sign a browser in."""
    attempt = attempt_of(request, settings, identity, form.email, form.password)
    try:
        signed_in = await _while_connected(request, sign_in_service.sign_in(database, attempt))
    except ServiceError as error:
        return _sign_in_page(request, form, FormErrors.of(error), details_of(error).headers)
    return with_session(go_to(safe_path(form.next)), settings, signed_in)


@router.post("/sign-out", dependencies=[Depends(protect_form)])
def sign_out(database: DatabaseDep, settings: SettingsDep, identity: CurrentIdentity) -> Response:
    """Delete the session cookie."""
    if identity.session is not None:
        with database.writing() as session:
            accounts.sign_out(session, web_session=identity.session)
    response = go_to("/sign-in", done="signed-out")
    cookies.clear_session(response, settings)
    return response


def attempt_of(request: Request, settings: Settings, identity: Identity, email: str, password: str) -> Attempt:
    """Return the attempt of a request to sign its browser in."""
    return Attempt(
        email=email,
        password=password,
        address=client_address(request),
        browser=request.headers.get("user-agent", ""),
        known_browser=cookies.known_browser(request, settings),
        replaces=identity.session,
    )


def with_session(response: Response, settings: Settings, signed_in: SignedIn) -> Response:
    """Set the cookies of a new session on a response, and return it."""
    cookies.set_session(response, settings, signed_in.secret)
    cookies.set_known_browser(response, settings, signed_in.known_browser)
    return response


async def _while_connected(request: Request, work: Coroutine[Any, Any, SignedIn]) -> SignedIn:
    """Await something, and cancel it if the client disconnects, so that it leaves the queue.

    Raises:
        ClientDisconnect: the client has disconnected.
    """
    task = asyncio.create_task(work)
    gone = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        task.cancel()
        gone.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _sign_in_page(
    request: Request, form: SignInForm, errors: FormErrors, headers: Mapping[str, str] | None = None
) -> Response:
    response = render(
        request,
        "sign_in.html",
        errors=errors,
        form={"email": form.email},
        next=safe_path(form.next),
        here=safe_path(form.next),
    )
    response.headers.update(headers or {})
    return response
