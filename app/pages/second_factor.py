"""The page of the second factor: set-up with an authenticator app, recovery codes, removal."""

import json
from functools import partial
from typing import Annotated
from urllib.parse import urlsplit

import segno
from anyio import to_thread
from fastapi import APIRouter, Depends, Form, Request
from markupsafe import Markup
from pydantic import BaseModel
from starlette.responses import Response

from vocboard.app.accounts import second_factor, security_keys
from vocboard.app.accounts.models import User
from vocboard.app.accounts.security_keys import Asked, KeyAnswer
from vocboard.app.database import Database
from vocboard.app.errors import ServiceError
from vocboard.app.intake.requests import client_address
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.settings import Settings
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import AccountServiceDep, DatabaseDep, SettingsDep
from vocboard.app.web.identity import CurrentIdentity, SignedIn
from vocboard.app.web.shown_once import forget, show_once, shown_once

router = APIRouter()

PATH = "/account/second-factor"
MODULE_PIXELS = 5  # side of a square of the QR code
Password = Annotated[str, Form()]


class KeyForm(BaseModel):
    """The form for a new security key."""

    label: str = ""
    key: str = ""
    challenge: str = ""


@router.get(PATH)
def second_factor_page(request: Request, settings: SettingsDep, database: DatabaseDep, user: SignedIn) -> Response:
    """The state of the second factor, and what can be done with it."""
    shown = shown_once(request, settings)
    response = _page(request, database, settings, user, recovery_codes=json.loads(shown) if shown else None)
    if shown:
        forget(response, settings)
    return response


@router.post(PATH, dependencies=[Depends(protect_form)])
async def begin(
    request: Request,
    settings: SettingsDep,
    database: DatabaseDep,
    account_service: AccountServiceDep,
    user: SignedIn,
    password: Password = "",
) -> Response:
    """Create the key of an app, after verifying the password."""
    try:
        await account_service.begin_second_factor(user, password=password, address=client_address(request))
    except ServiceError as error:
        failed = partial(_page, request, database, settings, user, errors=FormErrors.of(error))
        return await to_thread.run_sync(failed)
    return go_to(PATH)


@router.post(f"{PATH}/confirm", dependencies=[Depends(protect_form)])
def confirm(
    request: Request,
    settings: SettingsDep,
    database: DatabaseDep,
    account_service: AccountServiceDep,
    user: SignedIn,
    identity: CurrentIdentity,
    code: Annotated[str, Form()] = "",
) -> Response:
    """Finish the set-up with a first code; the page shows the recovery codes once."""
    try:
        codes = account_service.confirm_second_factor(user, code=code, keep=identity.session)
    except ServiceError as error:
        return _page(request, database, settings, user, errors=FormErrors.of(error))
    return _with_codes(request, settings, codes)


@router.post(f"{PATH}/recovery-codes", dependencies=[Depends(protect_form)])
async def replace_recovery_codes(
    request: Request,
    settings: SettingsDep,
    database: DatabaseDep,
    account_service: AccountServiceDep,
    user: SignedIn,
    password: Password = "",
) -> Response:
    """Create new recovery codes, after verifying the password; the page shows them once."""
    try:
        codes = await account_service.replace_recovery_codes(user, password=password, address=client_address(request))
    except ServiceError as error:
        failed = partial(_page, request, database, settings, user, errors=FormErrors.of(error))
        return await to_thread.run_sync(failed)
    return _with_codes(request, settings, codes)


@router.post(f"{PATH}/remove", dependencies=[Depends(protect_form)])
async def remove(
    request: Request,
    settings: SettingsDep,
    database: DatabaseDep,
    account_service: AccountServiceDep,
    user: SignedIn,
    removal_password: Password = "",
) -> Response:
    """Remove the second factor, after verifying the password."""
    try:
        await account_service.remove_second_factor(
            user, password=removal_password, address=client_address(request), field="removal_password"
        )
    except ServiceError as error:
        failed = partial(_page, request, database, settings, user, errors=FormErrors.of(error))
        return await to_thread.run_sync(failed)
    return go_to("/account", done="second-factor-removed")


@router.post(f"{PATH}/keys", dependencies=[Depends(protect_form)])
async def ask_for_key(
    request: Request,
    settings: SettingsDep,
    database: DatabaseDep,
    account_service: AccountServiceDep,
    user: SignedIn,
    key_password: Password = "",
) -> Response:
    """Verify the password, and ask the browser for a security key."""

    def asked() -> Response:
        with database.reading() as session:
            new_key = security_keys.ask_for_new(session, user=user, settings=settings)
        return _page(request, database, settings, user, new_key=new_key)

    try:
        await account_service.verify(user, key_password, field="key_password", address=client_address(request))
    except ServiceError as error:
        failed = partial(_page, request, database, settings, user, errors=FormErrors.of(error))
        return await to_thread.run_sync(failed)
    return await to_thread.run_sync(asked)


@router.post(f"{PATH}/keys/add", dependencies=[Depends(protect_form)])
def add_key(
    request: Request,
    settings: SettingsDep,
    database: DatabaseDep,
    user: SignedIn,
    form: Annotated[KeyForm, Form()],
) -> Response:
    """Add the security key that the browser has asked for."""
    answer = KeyAnswer(form.key, form.challenge)
    try:
        with database.writing() as session:
            second_factor.add_key(session, user=user, answer=answer, label=form.label, settings=settings)
    except ServiceError as error:
        return _page(request, database, settings, user, errors=FormErrors.of(error))
    return go_to(PATH, done="key-added")


@router.post(f"{PATH}/keys/remove", dependencies=[Depends(protect_form)])
async def remove_key(
    request: Request,
    settings: SettingsDep,
    database: DatabaseDep,
    account_service: AccountServiceDep,
    user: SignedIn,
    security_key: Annotated[str, Form()] = "",
    key_password: Password = "",
) -> Response:
    """Remove a security key, after verifying the password."""

    def change() -> None:
        with database.writing() as session:
            second_factor.remove_key(session, user=user, key_id=security_key, settings=settings)

    try:
        await account_service.verify(user, key_password, field="key_password", address=client_address(request))
        await to_thread.run_sync(change)
    except ServiceError as error:
        failed = partial(_page, request, database, settings, user, errors=FormErrors.of(error))
        return await to_thread.run_sync(failed)
    return go_to(PATH, done="key-removed")


def _with_codes(request: Request, settings: Settings, codes: list[str]) -> Response:
    response = go_to(PATH)
    show_once(response, request, settings, page=PATH, secret=json.dumps(codes))
    return response


def _page(
    request: Request,
    database: Database,
    settings: Settings,
    user: User,
    *,
    errors: FormErrors = NO_ERRORS,
    recovery_codes: list[str] | None = None,
    new_key: Asked | None = None,
) -> Response:
    with database.reading() as session:
        found = second_factor.state(session, user)
        keys = security_keys.keys_of(session, user)
    key = address = None
    if found is not None and found.confirmed_at is None:
        key = second_factor.app_key(found, server_key=settings.secret_key.get_secret_value())
    if key is not None:
        address = second_factor.address_for_app(key, user=user, issuer=urlsplit(settings.public_url).netloc)
    return render(
        request,
        "second_factor.html",
        errors=errors,
        found=found if found is not None and found.confirmed_at is not None else None,
        key=key and " ".join(key[start : start + 4] for start in range(0, len(key), 4)),
        address=address,
        qr_code=address and _qr_code(address),
        recovery_codes=recovery_codes,
        keys=keys,
        new_key=new_key,
    )


def _qr_code(text: str) -> Markup:
    svg = segno.make_qr(text).svg_inline(scale=MODULE_PIXELS, border=3, light="white")
    return Markup(svg)  # noqa: S704  # squares alone, without the text
