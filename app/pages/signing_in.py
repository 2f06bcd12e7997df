"""Registration, signing in and out, and forgotten passwords."""

import asyncio
from collections.abc import Coroutine, Mapping
from datetime import timedelta
from typing import Annotated, Any, TypeVar
from urllib.parse import quote, unquote, urlencode

from anyio import to_thread
from fastapi import Depends, Form, Request
from pydantic import BaseModel
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from vocboard.app.accounts import links
from vocboard.app.accounts import service as accounts
from vocboard.app.accounts.models import LinkPurpose
from vocboard.app.accounts.openid import ProvenIdentity
from vocboard.app.accounts.passwords import MIN_PASSWORD_LENGTH
from vocboard.app.accounts.security_keys import KeyAnswer
from vocboard.app.accounts.signing_in import CODE_WITHIN, Attempt, CodeWanted, SignedIn
from vocboard.app.accounts.terms import Terms
from vocboard.app.errors import ServiceError, SignInError
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to, safe_path
from vocboard.app.pages.rendering import render
from vocboard.app.settings import Settings
from vocboard.app.web import cookies
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, SettingsDep
from vocboard.app.web.identity import CurrentIdentity
from vocboard.app.web.problem_details import details_of
from vocboard.app.web.routes import Routes
from vocboard.app.web.visits import AnyVisit, Visit

KNOWN_BROWSER_LIFETIME = timedelta(days=180)
MAX_KNOWN_BROWSER_LENGTH = 2000
RETURN_TO_LIFETIME = timedelta(days=2)  # until the email of a registration is opened

router = Routes()

Result = TypeVar("Result")


class SignInForm(BaseModel):
    """The sign-in form."""

    email: str = ""
    password: str = ""
    next: str = "/"


class CodeForm(BaseModel):
    """The form for a code of the second factor."""

    code: str = ""
    key: str = ""
    challenge: str = ""
    next: str = "/"


@router.get("/sign-in")
def sign_in_page(visit: AnyVisit, next: str = "/") -> Response:
    """Show the sign-in form."""
    if visit.identity.user is not None:
        return go_to(safe_path(next))
    return _sign_in_page(visit, SignInForm(next=safe_path(next)), NO_ERRORS)


@router.post("/sign-in", dependencies=[Depends(protect_form)])
async def sign_in(visit: AnyVisit, form: Annotated[SignInForm, Form()]) -> Response:
    """Sign a browser in."""
    attempt = attempt_of(visit, form.email, form.password)
    try:
        signed_in = await _while_connected(visit.request, visit.signing_in.sign_in(visit.database, attempt))
    except ServiceError as error:
        return _sign_in_page(visit, form, FormErrors.of(error), details_of(error).headers)
    return answer_to(visit, signed_in, safe_path(form.next))


@router.get("/sign-in/code")
def code_page(visit: AnyVisit, next: str = "/") -> Response:
    """Show the form for a code of the second factor, after the password."""
    if not visit.signing_in.is_ticket(cookies.CODE_WANTED.of(visit.request, visit.settings)):
        return go_to(f"/sign-in?{urlencode({'next': safe_path(next)})}")
    return _code_page(visit, next, NO_ERRORS)


def _code_page(visit: Visit, path: str, errors: FormErrors) -> Response:
    asked = visit.signing_in.key_wanted(visit.database, cookies.CODE_WANTED.of(visit.request, visit.settings))
    return render(visit.request, "sign_in_code.html", errors=errors, next=safe_path(path), asked=asked)


@router.post("/sign-in/code", dependencies=[Depends(protect_form)])
def finish_sign_in(visit: AnyVisit, form: Annotated[CodeForm, Form()]) -> Response:
    """Sign a browser in that has sent the password."""
    attempt = attempt_of(visit, "", "")
    ticket = cookies.CODE_WANTED.of(visit.request, visit.settings)
    try:
        key = KeyAnswer(form.key, form.challenge) if form.key else None
        signed_in = visit.signing_in.finish(visit.database, attempt, ticket=ticket, code=form.code, key=key)
    except SignInError as error:
        return sign_in_error(visit, form.next, error)
    except ServiceError as error:
        return _code_page(visit, form.next, FormErrors.of(error))
    response = with_session(go_to(safe_path(form.next)), visit.settings, signed_in)
    cookies.CODE_WANTED.clear(response, visit.settings)
    return response


@router.post("/sign-out", dependencies=[Depends(protect_form)])
def sign_out(visit: AnyVisit) -> Response:
    """Delete the session cookie."""
    if visit.identity.session is not None:
        with visit.database.writing() as session:
            accounts.sign_out(session, web_session=visit.identity.session)
    response = go_to("/sign-in", done="signed-out")
    cookies.SESSION.clear(response, visit.settings)
    return response


def attempt_of(visit: Visit, email: str, password: str, *, links: ProvenIdentity | None = None) -> Attempt:
    """Return the attempt of a request to sign its browser in."""
    return Attempt(
        email=email,
        password=password,
        address=visit.address,
        browser=visit.request.headers.get("user-agent", ""),
        known_browser=cookies.KNOWN_BROWSER.of(visit.request, visit.settings)[:MAX_KNOWN_BROWSER_LENGTH],
        replaces=visit.identity.session,
        links=links,
    )


def answer_to(visit: Visit, found: SignedIn | CodeWanted, path: str, *, done: str | None = None) -> Response:
    """Lead who has signed in to a page, with a session, or to the form for a code of the second factor."""
    if isinstance(found, SignedIn):
        return with_session(go_to(path, done=done), visit.settings, found)
    response = go_to(f"/sign-in/code?{urlencode({'next': path})}")
    cookies.CODE_WANTED.set(response, visit.settings, found.ticket, CODE_WITHIN)
    return response


def with_session(response: Response, settings: Settings, signed_in: SignedIn) -> Response:
    """Set the cookies of a new session on a response, and return it."""
    cookies.SESSION.set(response, settings, signed_in.secret, settings.session_lifetime)
    cookies.KNOWN_BROWSER.set(response, settings, signed_in.known_browser, KNOWN_BROWSER_LIFETIME)
    return response


async def _while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
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


def sign_in_error(visit: Visit, path: str, error: ServiceError) -> Response:
    """Show the sign-in form with an error that is not about its fields."""
    return _sign_in_page(visit, SignInForm(next=path), FormErrors.of(error), details_of(error).headers)


def _sign_in_page(
    visit: Visit, form: SignInForm, errors: FormErrors, headers: Mapping[str, str] | None = None
) -> Response:
    path = safe_path(form.next)
    response = render(
        visit.request,
        "sign_in.html",
        errors=errors,
        form={"email": form.email},
        next=path,
        here=path,
        providers=_buttons(visit.settings, path),
    )
    response.headers.update(headers or {})
    return response


def _buttons(settings: Settings, path: str) -> list[tuple[str, str]]:
    """Return titles and addresses of the providers that one can sign in with."""
    query = urlencode({"next": path})
    return [(one.title, f"/sign-in/with/{one.name}?{query}") for one in settings.providers]


class RegistrationForm(BaseModel):
    """The registration form."""

    email: str = ""
    name: str = ""
    affiliation: str = ""
    password: str = ""
    terms: str = ""
    next: str = "/"


class ConfirmationForm(BaseModel):
    """The form to confirm an email address."""

    token: str = ""
    password: str = ""


@router.get("/register")
def registration_page(visit: AnyVisit, next: str = "/") -> Response:
    """Show the registration form."""
    if visit.identity.user is not None:
        return go_to(safe_path(next))
    return _registration_page(visit, RegistrationForm(next=next), NO_ERRORS)


@router.post("/register", dependencies=[Depends(protect_form)])
async def register(visit: AnyVisit, form: Annotated[RegistrationForm, Form()]) -> Response:
    """Create an account; the response is the same if the email address already has one."""
    try:
        await visit.accounts.register(**form.model_dump(exclude={"next"}), address=visit.address)
    except ServiceError as error:
        return _registration_page(visit, form, FormErrors.of(error))
    response = go_to("/register/sent")
    cookies.RETURN_TO.set(response, visit.settings, quote(safe_path(form.next)), RETURN_TO_LIFETIME)
    return response


@router.get("/register/sent")
def registration_sent_page(request: Request, settings: SettingsDep, _: CurrentIdentity) -> Response:
    """Explain what to do next; the same for everyone."""
    return render(request, "register_sent.html", mail_directory=settings.mail_directory)


@router.get("/confirm")
def confirmation_page(request: Request, database: DatabaseDep, _: CurrentIdentity, token: str = "") -> Response:
    """Show the form that confirms an email address, because opening a link must not change anything."""
    with database.reading() as session:
        links.owner(session, token, LinkPurpose.CONFIRM_ADDRESS)
    return render(request, "confirm.html", errors=NO_ERRORS, token=token)


@router.post("/confirm", dependencies=[Depends(protect_form)])
async def confirm(visit: AnyVisit, form: Annotated[ConfirmationForm, Form()]) -> Response:
    """Confirm the email address that a link was sent to, with the password of the registration, and sign in.

    Link and password are more than signing in asks for, so the password is not asked for again.
    """
    try:
        user = await visit.accounts.confirm_address(**form.model_dump(), address=visit.address)
    except links.InvalidLinkError:
        raise
    except ServiceError as error:
        return render(visit.request, "confirm.html", errors=FormErrors.of(error), token=form.token)
    wanted = safe_path(unquote(cookies.RETURN_TO.of(visit.request, visit.settings)))
    query = "" if wanted == "/" else "?" + urlencode({"next": wanted})
    if not user.is_approved:
        return go_to(f"/sign-in{query}", done="waits")
    try:
        signed_in = await visit.signing_in.sign_in(visit.database, attempt_of(visit, user.email, form.password))
    except ServiceError:  # too many at the moment
        return go_to(f"/sign-in{query}", done="confirmed")
    return answer_to(visit, signed_in, wanted, done="welcome")


def _registration_page(visit: Visit, form: RegistrationForm, errors: FormErrors) -> Response:
    settings = visit.settings
    return render(
        visit.request,
        "register.html",
        errors=errors,
        form=form.model_dump(exclude={"password", "next"}),
        next=safe_path(form.next),
        here=safe_path(form.next),
        policy=settings.registration_policy,
        terms=Terms.read(settings.terms_file),
        min_password_length=MIN_PASSWORD_LENGTH,
        providers=_buttons(settings, safe_path(form.next)),
    )


class ResetForm(BaseModel):
    """The form to choose a new password."""

    token: str = ""
    new_password: str = ""


@router.get("/forgotten-password")
def request_page(request: Request, _: CurrentIdentity) -> Response:
    """Show the form to request an email."""
    return render(request, "forgotten_password.html", errors=NO_ERRORS, form={"email": ""})


@router.post("/forgotten-password", dependencies=[Depends(protect_form)])
def request_reset(visit: AnyVisit, email: Annotated[str, Form()] = "") -> Response:
    """Send a link if the address has an account; the response is the same otherwise."""
    try:
        normalised = visit.accounts.count_reset_request(email=email, address=visit.address)
    except ServiceError as error:
        return render(visit.request, "forgotten_password.html", errors=FormErrors.of(error), form={"email": email})
    response = go_to("/forgotten-password/sent")
    # After the response, because the time would reveal whether there is an account.
    response.background = BackgroundTask(visit.accounts.send_reset_link, normalised)
    return response


@router.get("/forgotten-password/sent")
def sent_page(request: Request, settings: SettingsDep, _: CurrentIdentity) -> Response:
    """Explain what to do next; the same for everyone."""
    return render(request, "forgotten_password_sent.html", mail_directory=settings.mail_directory)


@router.get("/reset-password")
def reset_page(visit: AnyVisit, token: str = "") -> Response:
    """The form to choose a new password."""
    return _reset_page(visit, token, NO_ERRORS)


@router.post("/reset-password", dependencies=[Depends(protect_form)])
async def reset(visit: AnyVisit, form: Annotated[ResetForm, Form()]) -> Response:
    """Set the new password, confirm the address, and end all sessions and tokens."""
    try:
        await visit.accounts.reset_password(**form.model_dump(), address=visit.address)
    except links.InvalidLinkError:
        raise
    except ServiceError as error:
        return await to_thread.run_sync(_reset_page, visit, form.token, FormErrors.of(error))
    return go_to("/sign-in", done="reset")


def _reset_page(visit: Visit, token: str, errors: FormErrors) -> Response:
    with visit.database.reading() as session:
        email = links.owner(session, token, LinkPurpose.RESET_PASSWORD).email
    length = MIN_PASSWORD_LENGTH
    return render(
        visit.request, "reset_password.html", errors=errors, token=token, email=email, min_password_length=length
    )
