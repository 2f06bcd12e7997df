"""The page of the second factor: set-up with an authenticator app, recovery codes, removal."""

import json
from functools import partial
from typing import Annotated
from urllib.parse import urlsplit

import segno
from anyio import to_thread
from fastapi import APIRouter, Depends, Form, Request
from markupsafe import Markup
from starlette.responses import Response

from vocboard.app.accounts import second_factor
from vocboard.app.accounts.models import User
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
) -> Response:
    with database.reading() as session:
        found = second_factor.state(session, user)
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
    )


def _qr_code(text: str) -> Markup:
    svg = segno.make_qr(text).svg_inline(scale=MODULE_PIXELS, border=3, light="white")
    return Markup(svg)  # noqa: S704  # squares alone, without the text
