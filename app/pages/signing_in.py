"""Signing in and out."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from pydantic import BaseModel
from starlette.responses import Response

from app.accounts import service as accounts
from app.database import Database
from app.errors import ServiceError
from app.pages.forms import NO_TROUBLE, Trouble, go_to, safe_path
from app.pages.rendering import render
from app.security import cookies
from app.security.csrf import protect_form
from app.security.identity import CurrentIdentity, client_address
from app.settings import Settings

router = APIRouter()


class SignInForm(BaseModel):
    """What a person types to sign in."""

    email: str = ""
    password: str = ""
    next: str = "/"


@router.get("/sign-in")
def sign_in_page(request: Request, identity: CurrentIdentity, next: str = "/") -> Response:
    """The form to sign in."""
    if identity.user is not None:
        return go_to(safe_path(next))
    return _sign_in_page(request, SignInForm(next=safe_path(next)), NO_TROUBLE)


@router.post("/sign-in", dependencies=[Depends(protect_form)])
def sign_in(request: Request, _identity: CurrentIdentity, form: Annotated[SignInForm, Form()]) -> Response:
    """Sign a browser in."""
    settings: Settings = request.app.state.settings
    database: Database = request.app.state.database
    try:
        with database.writing() as session:
            _user, token = accounts.sign_in(
                session,
                email=form.email,
                password=form.password,
                address=client_address(request),
                browser=request.headers.get("user-agent", ""),
                lifetime=settings.session_lifetime,
            )
    except ServiceError as error:
        return _sign_in_page(request, form, Trouble.of(error))
    response = go_to(safe_path(form.next))
    cookies.set_session(response, settings, token)
    return response


@router.post("/sign-out", dependencies=[Depends(protect_form)])
def sign_out(request: Request, identity: CurrentIdentity) -> Response:
    """Sign the browser out."""
    database: Database = request.app.state.database
    if identity.session is not None:
        with database.writing() as session:
            accounts.sign_out(session, web_session=identity.session)
    response = go_to("/sign-in", done="signed-out")
    cookies.clear_session(response, request.app.state.settings)
    return response


def _sign_in_page(request: Request, form: SignInForm, trouble: Trouble) -> Response:
    return render(
        request,
        "sign_in.html",
        status=trouble.status,
        form={"email": form.email},
        next=safe_path(form.next),
        wrong=trouble.wrong,
        message=trouble.message,
    )
