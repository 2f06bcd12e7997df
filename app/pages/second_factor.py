"""The page of the second factor: set-up with an authenticator app, recovery codes, removal."""

import json
from functools import partial
from typing import Annotated
from urllib.parse import urlsplit

import segno
from anyio import to_thread
from fastapi import Depends, Form
from markupsafe import Markup
from pydantic import BaseModel
from starlette.responses import Response

from vocboard.app.accounts import second_factor, security_keys
from vocboard.app.accounts.security_keys import Asked, KeyAnswer
from vocboard.app.errors import ServiceError
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.routes import Routes
from vocboard.app.web.shown_once import forget, show_once, shown_once
from vocboard.app.web.visits import SignedInVisit, Visit

router = Routes()

PATH = "/account/second-factor"
MODULE_PIXELS = 5  # side of a square of the QR code
Password = Annotated[str, Form()]


class KeyForm(BaseModel):
    """The form for a new security key."""

    label: str = ""
    key: str = ""
    challenge: str = ""


@router.get(PATH)
def second_factor_page(visit: SignedInVisit) -> Response:
    """The state of the second factor, and what can be done with it."""
    shown = shown_once(visit.request, visit.settings)
    response = _page(visit, recovery_codes=json.loads(shown) if shown else None)
    if shown:
        forget(response, visit.settings)
    return response


@router.post(PATH, dependencies=[Depends(protect_form)])
async def begin(visit: SignedInVisit, password: Password = "") -> Response:
    """Create the key of an app, after verifying the password."""
    try:
        await visit.accounts.verify(visit.user, password, field="password", address=visit.address)
        await visit.accounts.write(second_factor.begin, user=visit.user, settings=visit.settings)
    except ServiceError as error:
        return await to_thread.run_sync(partial(_page, visit, errors=FormErrors.of(error)))
    return go_to(PATH)


@router.post(f"{PATH}/confirm", dependencies=[Depends(protect_form)])
def confirm(visit: SignedInVisit, code: Annotated[str, Form()] = "") -> Response:
    """Finish the set-up with a first code; the page shows the recovery codes once."""
    user, keep = visit.user, visit.identity.session
    try:
        with visit.database.writing() as session:
            codes = second_factor.confirm(session, user=user, code=code, keep=keep, settings=visit.settings)
    except ServiceError as error:
        return _page(visit, errors=FormErrors.of(error))
    return _with_codes(visit, codes)


@router.post(f"{PATH}/recovery-codes", dependencies=[Depends(protect_form)])
async def replace_recovery_codes(visit: SignedInVisit, password: Password = "") -> Response:
    """Create new recovery codes, after verifying the password; the page shows them once."""
    try:
        await visit.accounts.verify(visit.user, password, field="password", address=visit.address)
        codes = await visit.accounts.write(second_factor.replace_recovery_codes, user=visit.user)
    except ServiceError as error:
        return await to_thread.run_sync(partial(_page, visit, errors=FormErrors.of(error)))
    return _with_codes(visit, codes)


@router.post(f"{PATH}/remove", dependencies=[Depends(protect_form)])
async def remove(visit: SignedInVisit, removal_password: Password = "") -> Response:
    """Remove the second factor, after verifying the password."""
    user, site = visit.user, visit.settings.public_url
    try:
        await visit.accounts.verify(user, removal_password, field="removal_password", address=visit.address)
        await visit.accounts.write(second_factor.remove, user=user, site=site, actor=user)
    except ServiceError as error:
        return await to_thread.run_sync(partial(_page, visit, errors=FormErrors.of(error)))
    return go_to("/account", done="second-factor-removed")


@router.post(f"{PATH}/keys", dependencies=[Depends(protect_form)])
async def ask_for_key(visit: SignedInVisit, key_password: Password = "") -> Response:
    """Verify the password, and ask the browser for a security key."""

    def asked() -> Response:
        with visit.database.reading() as session:
            new_key = security_keys.ask_for_new(session, user=visit.user, settings=visit.settings)
        return _page(visit, new_key=new_key)

    try:
        await visit.accounts.verify(visit.user, key_password, field="key_password", address=visit.address)
    except ServiceError as error:
        return await to_thread.run_sync(partial(_page, visit, errors=FormErrors.of(error)))
    return await to_thread.run_sync(asked)


@router.post(f"{PATH}/keys/add", dependencies=[Depends(protect_form)])
def add_key(visit: SignedInVisit, form: Annotated[KeyForm, Form()]) -> Response:
    """Add the security key that the browser has asked for."""
    answer = KeyAnswer(form.key, form.challenge)
    try:
        with visit.database.writing() as session:
            second_factor.add_key(session, user=visit.user, answer=answer, label=form.label, settings=visit.settings)
    except ServiceError as error:
        return _page(visit, errors=FormErrors.of(error))
    return go_to(PATH, done="key-added")


@router.post(f"{PATH}/keys/remove", dependencies=[Depends(protect_form)])
async def remove_key(
    visit: SignedInVisit, security_key: Annotated[str, Form()] = "", key_password: Password = ""
) -> Response:
    """Remove a security key, after verifying the password."""
    user, settings = visit.user, visit.settings
    try:
        await visit.accounts.verify(user, key_password, field="key_password", address=visit.address)
        await visit.accounts.write(second_factor.remove_key, user=user, key_id=security_key, settings=settings)
    except ServiceError as error:
        return await to_thread.run_sync(partial(_page, visit, errors=FormErrors.of(error)))
    return go_to(PATH, done="key-removed")


def _with_codes(visit: Visit, codes: list[str]) -> Response:
    response = go_to(PATH)
    show_once(response, visit.request, visit.settings, page=PATH, secret=json.dumps(codes))
    return response


def _page(
    visit: Visit,
    *,
    errors: FormErrors = NO_ERRORS,
    recovery_codes: list[str] | None = None,
    new_key: Asked | None = None,
) -> Response:
    user, settings = visit.user, visit.settings
    with visit.database.reading() as session:
        found = second_factor.state(session, user)
        keys = security_keys.keys_of(session, user)
    key = address = None
    if found is not None and found.confirmed_at is None:
        key = second_factor.app_key(found, server_key=settings.secret_key.get_secret_value())
    if key is not None:
        address = second_factor.address_for_app(key, user=user, issuer=urlsplit(settings.public_url).netloc)
    return render(
        visit.request,
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
