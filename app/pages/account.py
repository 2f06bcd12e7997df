"""The account page: name, email address, password, browser sessions, API tokens."""

import json
import uuid
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Annotated

from anyio import to_thread
from fastapi import Depends, Form
from pydantic import BaseModel
from starlette.responses import Response

from vocboard.app.accounts import addresses, identities, links, second_factor
from vocboard.app.accounts import service as accounts
from vocboard.app.accounts.models import Role, Scope
from vocboard.app.accounts.passwords import MIN_PASSWORD_LENGTH, NO_PASSWORD
from vocboard.app.database import now
from vocboard.app.errors import ServiceError
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.settings import Settings
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.routes import Routes
from vocboard.app.web.shown_once import forget, show_once, shown_once
from vocboard.app.web.visits import SignedInVisit, Visit

router = Routes()

LIFETIMES_DAYS = (7, 30, 90, 365)
DEFAULT_LIFETIME_DAYS = 90
SCOPES = {
    Scope.READ: "see challenges, results and leaderboards",
    Scope.SUBMIT: "upload, publish and withdraw submissions; change your name, affiliation and, with your password,"
    " email address",
    Scope.ORGANISE: "create and change challenges",
}


class TokenForm(BaseModel):
    """The form for a new token."""

    label: str = ""
    scopes: list[str] = []
    lifetime: str = str(DEFAULT_LIFETIME_DAYS)
    password: str = ""


class ProfileForm(BaseModel):
    """The form to change name and affiliation."""

    name: str = ""
    affiliation: str = ""


class AddressForm(BaseModel):
    """The form to change the email address."""

    email: str = ""
    address_password: str = ""


class PasswordForm(BaseModel):
    """The form to change the password."""

    current_password: str = ""
    new_password: str = ""


@router.get("/account")
def account_page(visit: SignedInVisit) -> Response:
    """The account."""
    shown = shown_once(visit.request, visit.settings)
    response = _page(visit, new_token=json.loads(shown) if shown else None)
    if shown:
        forget(response, visit.settings)
    return response


@router.post("/account/profile", dependencies=[Depends(protect_form)])
def change_profile(visit: SignedInVisit, form: Annotated[ProfileForm, Form()]) -> Response:
    """Change the name and the affiliation."""
    try:
        with visit.database.writing() as session:
            accounts.change_profile(session, user=visit.user, **form.model_dump())
    except ServiceError as error:
        return _page(visit, profile=form, profile_errors=FormErrors.of(error))
    return go_to("/account", done="profile")


@router.post("/account/email", dependencies=[Depends(protect_form)])
async def request_address(visit: SignedInVisit, form: Annotated[AddressForm, Form()]) -> Response:
    """Send a link to a new email address; the response is the same if the address has an account."""
    try:
        await visit.accounts.request_address(
            visit.user,
            email=form.email,
            password=form.address_password,
            address=visit.address,
            field="address_password",
        )
    except ServiceError as error:
        return await to_thread.run_sync(partial(_page, visit, address=form, address_errors=FormErrors.of(error)))
    return go_to("/account", done="address-requested")


@router.get("/account/address")
def address_page(visit: SignedInVisit, token: str = "") -> Response:
    """The form that changes the email address, because opening a link must not change anything."""
    with visit.database.reading() as session:
        email = links.new_address(session, token, visit.user)
    return render(visit.request, "change_address.html", token=token, email=email)


@router.post("/account/address", dependencies=[Depends(protect_form)])
def change_address(visit: SignedInVisit, token: Annotated[str, Form()] = "") -> Response:
    """Change the email address to the one that the link was sent to."""
    user, keep = visit.user, visit.identity.session
    with visit.database.writing() as session:
        addresses.confirm(session, user=user, secret=token, keep=keep, settings=visit.settings)
    return go_to("/account", done="address")


@router.post("/account/password", dependencies=[Depends(protect_form)])
async def change_password(visit: SignedInVisit, form: Annotated[PasswordForm, Form()]) -> Response:
    """Set a new password."""
    try:
        await visit.accounts.change_password(
            visit.user, **form.model_dump(), keep=visit.identity.session, address=visit.address
        )
    except ServiceError as error:
        return await to_thread.run_sync(partial(_page, visit, password_errors=FormErrors.of(error)))
    return go_to("/account", done="password")


@router.post("/account/sessions/{session_id}/revoke", dependencies=[Depends(protect_form)])
def end_session(visit: SignedInVisit, session_id: uuid.UUID) -> Response:
    """End another browser session."""
    with visit.database.writing() as session:
        accounts.revoke_session(session, user=visit.user, session_id=session_id)
    return go_to("/account", done="session")


@router.post("/account/tokens", dependencies=[Depends(protect_form)])
async def create_token(visit: SignedInVisit, form: Annotated[TokenForm, Form()]) -> Response:
    """Create a token after verifying the password; the account page shows its secret once."""
    known = map(str, {*LIFETIMES_DAYS, *_lifetimes(visit.settings)})
    days = int(form.lifetime) if form.lifetime in known else 0  # the service rejects 0
    try:
        token, secret = await visit.accounts.create_token(
            visit.user,
            password=form.password,
            used=visit.identity.session,
            address=visit.address,
            label=form.label,
            scopes=[Scope(scope) for scope in form.scopes if scope in set(Scope)],
            lifetime=min(timedelta(days=days), visit.settings.token_lifetime),
        )
    except ServiceError as error:
        return await to_thread.run_sync(partial(_page, visit, token_form=form, token_errors=FormErrors.of(error)))
    response, shown = go_to("/account"), json.dumps({"label": token.label, "secret": secret})
    show_once(response, visit.request, visit.settings, page="/account", secret=shown)
    return response


@router.post("/account/tokens/{token_id}/revoke", dependencies=[Depends(protect_form)])
def revoke_token(visit: SignedInVisit, token_id: uuid.UUID) -> Response:
    """Revoke a token."""
    with visit.database.writing() as session:
        accounts.revoke_token(session, user=visit.user, token_id=token_id)
    response = go_to("/account", done="token")
    forget(response, visit.settings)
    return response


def _page(
    visit: Visit,
    *,
    token_form: TokenForm | None = None,
    token_errors: FormErrors = NO_ERRORS,
    password_errors: FormErrors = NO_ERRORS,
    profile: ProfileForm | None = None,
    profile_errors: FormErrors = NO_ERRORS,
    address: AddressForm | None = None,
    address_errors: FormErrors = NO_ERRORS,
    new_token: Mapping[str, str] | None = None,
) -> Response:
    user, settings = visit.user, visit.settings
    with visit.database.reading() as session:
        tokens = accounts.tokens_of(session, user)
        sessions = accounts.sessions_of(session, user, idle_timeout=settings.session_idle_timeout)
        has_second_factor = second_factor.is_set_up(session, user.id)
        linked = [settings.title_of(one.issuer) for one in identities.identities_of(session, user)]
    return render(
        visit.request,
        "account.html",
        status=max(errors.status for errors in (token_errors, password_errors, profile_errors, address_errors)),
        address=(address or AddressForm()).model_dump(exclude={"address_password"}),
        address_errors=address_errors,
        profile=(profile or ProfileForm(name=user.name, affiliation=user.affiliation)).model_dump(),
        profile_errors=profile_errors,
        tokens=tokens,
        sessions=sessions,
        has_second_factor=has_second_factor,
        has_password=user.password_hash != NO_PASSWORD,
        has_providers=bool(settings.providers),
        linked=linked,
        now=now(),
        new_token=new_token,
        site=settings.public_url,
        token_form=(token_form or TokenForm(scopes=[Scope.READ, Scope.SUBMIT])).model_dump(exclude={"password"}),
        token_errors=token_errors,
        password_errors=password_errors,
        scopes=[(scope, SCOPES[scope]) for scope in Scope if scope != Scope.ORGANISE or user.role != Role.PARTICIPANT],
        lifetimes=_lifetimes(settings),
        min_password_length=MIN_PASSWORD_LENGTH,
    )


def _lifetimes(settings: Settings) -> list[int]:
    """Return how many days a token can be valid; one choice at least, whatever is the longest time of the server."""
    longest = settings.token_lifetime
    return [days for days in LIFETIMES_DAYS if timedelta(days=days) <= longest] or [max(longest.days, 1)]
