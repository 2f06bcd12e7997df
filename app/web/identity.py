"""The user of a request, and its scopes."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from vocboard.app.accounts import second_factor, terms
from vocboard.app.accounts import service as accounts
from vocboard.app.accounts.models import ApiToken, Scope, User, WebSession
from vocboard.app.accounts.second_factor import SecondFactorRequiredError
from vocboard.app.accounts.terms import ServerTermsNotAcceptedError
from vocboard.app.accounts.viewer import Identity
from vocboard.app.database import Database
from vocboard.app.errors import ForbiddenError, NotSignedInError
from vocboard.app.notifications import queries as notifications
from vocboard.app.web import cookies
from vocboard.app.web.csrf import HEADER, SAFE_METHODS, verify_csrf
from vocboard.app.web.dependencies import services_of

ALL_SCOPES = frozenset(Scope)
_scopes: dict[Callable[..., Any], Scope] = {}  # of dependencies, for the API's document
# Forms and routes that change something and need no terms: to accept them, to leave, and to end what had begun.
WITHOUT_TERMS = re.compile(
    r"POST /(terms|sign-out|account/delete|unsubscribe|api/v1/account/terms)"
    r"|DELETE /api/v1/account|[A-Z]+ /api/v1/uploads/.*"
)
BEARER = HTTPBearer(
    scheme_name="token", description="An API token from the Account page, for example `vocb_…`.", auto_error=False
)


class InvalidTokenError(NotSignedInError):
    """The bearer token is unknown, expired or revoked; the error does not say which."""

    code, title = "invalid_token", "The token is not valid"


async def current_identity(request: Request) -> Identity:
    """Dependency of pages: the user signed in with this browser, or a visitor (without using a thread)."""
    secret = cookies.SESSION.of(request, services_of(request).settings)
    return await run_in_threadpool(_signed_in, request, secret) if secret else _noted(request, Identity())


async def identify(request: Request, credentials: HTTPAuthorizationCredentials | None) -> Identity:
    """Find the user of a request to the API: of the bearer token, or else the one signed in with this browser.

    Raises:
        InvalidTokenError: the token is unknown or no longer valid.
        ForgedRequestError: a browser session tries to change something without a CSRF token.
    """
    if "authorization" not in request.headers:
        identity = await current_identity(request)
        if identity.user is not None and request.method not in SAFE_METHODS:
            verify_csrf(request, request.headers.get(HEADER))
        return identity
    return await run_in_threadpool(_of_token, request, credentials.credentials if credentials else "")


def _identity_of(request: Request) -> Identity:
    """Return what `identify` has found, which the API calls before the dependencies of routes."""
    identity: Identity = request.state.identity
    return identity


async def _api_identity(request: Request) -> Identity:
    return _identity_of(request)


def _with_terms(request: Request, identity: Identity) -> Identity:
    """Note the user of a request, and whether terms are to be accepted.

    Raises:
        ServerTermsNotAcceptedError: they are, and the request would change something.
    """
    found = terms.due(services_of(request).settings.terms_file, identity.require_user())
    identity = _noted(request, replace(identity, terms_due=found is not None))
    request_line = f"{request.method} {request.url.path}"
    if found is not None and request.method not in SAFE_METHODS and not WITHOUT_TERMS.fullmatch(request_line):
        raise ServerTermsNotAcceptedError(found.version)
    return identity


def _noted(request: Request, identity: Identity) -> Identity:
    request.state.identity = identity
    return identity


def _signed_in(request: Request, secret: str) -> Identity:
    services = services_of(request)
    with services.database.reading() as session:
        found = accounts.user_of_session(session, secret, idle_timeout=services.settings.session_idle_timeout)
        if found is None:
            return _noted(request, Identity())
        user, used = found
        lacks = second_factor.is_missing(session, user, services.settings.second_factor)
        unread = notifications.count_unread(session, user.id)
    _record_use(services.database, used)
    scopes = ALL_SCOPES - {Scope.ORGANISE} if lacks else ALL_SCOPES
    user = accounts.acting_with(user, scopes)
    return _with_terms(request, Identity(user, scopes, used, lacks_second_factor=lacks, unread=unread))


def _of_token(request: Request, secret: str) -> Identity:
    services = services_of(request)
    with services.database.reading_autocommit() as session:  # of one statement, mostly
        found = accounts.user_of_token(session, secret) if secret else None
        lacks = found is not None and second_factor.is_missing(session, found[0], services.settings.second_factor)
    if found is None:
        raise InvalidTokenError("The token is unknown, expired or revoked. Create a new one on the Account page.")
    user, used = found
    _record_use(services.database, used)
    scopes = used.granted - {Scope.ORGANISE} if lacks else used.granted
    user = accounts.acting_with(user, scopes)
    return _with_terms(request, Identity(user, scopes, token=used, lacks_second_factor=lacks))


def _record_use(database: Database, used: WebSession | ApiToken) -> None:
    if accounts.is_use_worth_recording(used):
        with database.writing() as session:
            accounts.record_use(session, used)


CurrentIdentity = Annotated[Identity, Depends(current_identity)]
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]
ApiIdentity = Annotated[Identity, Depends(_api_identity)]


async def require_user(identity: CurrentIdentity) -> User:
    """Dependency of pages for signed-in users.

    Raises:
        NotSignedInError: there is no signed-in user.
    """
    return identity.require_user()


def _permitted_user(identity: Identity) -> User:
    """Return the user, who may organise if the role says so.

    Raises:
        NotSignedInError: there is no signed-in user.
        SecondFactorRequiredError: the user has to set up a second factor first.
    """
    user = identity.require_user()
    if identity.lacks_second_factor:
        raise SecondFactorRequiredError
    return user


def _page_of(may: Callable[[Identity], bool], refusal: str) -> Callable[[Identity], Awaitable[User]]:
    """Return a dependency of pages for people with a role.

    It raises `NotSignedInError` and `SecondFactorRequiredError` as `_permitted_user`, and `ForbiddenError`, which says
    `refusal`, for users without the role.
    """

    async def user_with_role(identity: CurrentIdentity) -> User:
        user = _permitted_user(identity)
        if not may(identity):
            raise ForbiddenError(refusal)
        return user

    return user_with_role


def requires(
    scope: Scope, may: Callable[[Identity], bool] = lambda _: True, refusal: str = ""
) -> Callable[[Request], Awaitable[User]]:
    """Return a dependency of API routes that need a user and a scope, and perhaps a role.

    It raises `NotSignedInError` for a visitor, `ForbiddenError` for a token without the scope and, with `refusal`, for
    users without the role, and `SecondFactorRequiredError` as `_permitted_user`.
    """

    async def user_with_scope(request: Request) -> User:
        identity = _identity_of(request)
        user = _permitted_user(identity) if scope is Scope.ORGANISE else identity.require_user()
        if scope not in identity.scopes:
            to_do = "Organisers create" if scope is Scope.ORGANISE else "Create"
            raise ForbiddenError(
                f"The token lacks the scope {scope.value!r}. {to_do} a token with this scope on the Account page."
            )
        if not may(identity):
            raise ForbiddenError(refusal)
        return user

    _scopes[user_with_scope] = scope
    return user_with_scope


def scope_of(dependency: Callable[..., Any] | None) -> Scope | None:
    """Return the scope that a dependency of `requires` needs; None for other dependencies."""
    return None if dependency is None else _scopes.get(dependency)


async def reader(request: Request) -> User | None:
    """Dependency of API routes that visitors may read: the user, if there is one, with the scope `read`.

    Raises:
        ForbiddenError: the token lacks the scope `read`.
    """
    identity = _identity_of(request)
    if identity.user is not None and identity.reader is None:
        raise ForbiddenError("The token lacks the scope 'read'. Create a token with this scope on the Account page.")
    return identity.user


_ORGANISERS = "Only organisers can do this."
_ADMINISTRATORS = "Only administrators can see this."
_CREATORS = "Only users with the organiser role can do this. Ask the operator of this server for it."

require_organiser = _page_of(lambda who: who.may_organise, _ORGANISERS)

SignedIn = Annotated[User, Depends(require_user)]
# Services check which challenges a user organises.
Organiser = Annotated[User, Depends(require_organiser)]
Creator = Annotated[User, Depends(_page_of(lambda who: who.may_create_challenges, _CREATORS))]
Administrator = Annotated[User, Depends(_page_of(lambda who: who.is_administrator, _ADMINISTRATORS))]
Viewer = Annotated[User | None, Depends(reader)]
ReadingUser = Annotated[User, Depends(requires(Scope.READ))]
SubmittingUser = Annotated[User, Depends(requires(Scope.SUBMIT))]
OrganisingUser = Annotated[User, Depends(requires(Scope.ORGANISE))]
# For users who may create challenges, whatever challenges they organise.
ApiOrganiser = Annotated[User, Depends(requires(Scope.ORGANISE, lambda who: who.may_create_challenges, _ORGANISERS))]
ApiAdministrator = Annotated[
    User, Depends(requires(Scope.ORGANISE, lambda who: who.is_administrator, "Only administrators can do this."))
]
