"""Who sent the request, and what it may be used for."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy.orm import Session

from vocboard.app.accounts import service as accounts
from vocboard.app.accounts.models import ApiToken, Role, Scope, User, WebSession
from vocboard.app.database import Database
from vocboard.app.errors import ForbiddenError, NotSignedInError
from vocboard.app.settings import Settings
from vocboard.app.web import cookies
from vocboard.app.web.csrf import HEADER, SAFE_METHODS, verify_csrf

ALL_SCOPES = frozenset(Scope)
BEARER = HTTPBearer(
    scheme_name="token", description="An API token from the account page, such as `vocb_…`.", auto_error=False
)


@dataclass(frozen=True, slots=True)
class Identity:
    """The person behind a request.

    Attributes:
        user: None for a visitor; with a token that lacks the scope `organise`, the person as a plain participant.
        scopes: what the request may be used for; all of them for a signed-in browser.
        session: the browser session; None for a visitor and for a bearer token.
        token: the bearer token; None for a visitor and for a signed-in browser.
    """

    user: User | None = None
    scopes: frozenset[Scope] = frozenset()
    session: WebSession | None = None
    token: ApiToken | None = None

    @property
    def reader(self) -> User | None:
        """The person whose own things a response may contain; None without the scope `read`, as for a visitor."""
        return self.user if Scope.READ in self.scopes else None

    @property
    def is_administrator(self) -> bool:
        """Whether this is an administrator."""
        return self.user is not None and self.user.role is Role.ADMINISTRATOR

    @property
    def may_organise(self) -> bool:
        """Whether this person may set up challenges."""
        return self.user is not None and self.user.role in {Role.ORGANISER, Role.ADMINISTRATOR}

    def require_user(self) -> User:
        """The person.

        Raises:
            NotSignedInError: it is a visitor.
        """
        if self.user is None:
            raise NotSignedInError("Sign in or send an API token.")
        return self.user


class InvalidTokenError(NotSignedInError):
    """A bearer token that is unknown, expired or revoked; which of them is nobody's business."""

    code, title = "invalid_token", "The token is not valid"


def client_address(request: Request) -> str:
    """The address that limits count by; behind a proxy the server has already put in the real one."""
    return request.client.host if request.client else "unknown"


async def current_identity(request: Request) -> Identity:
    """Dependency of pages: the person signed in with this browser, or a visitor, whom no thread is needed for."""
    secret = cookies.session_token(request, request.app.state.settings)
    identity = await run_in_threadpool(_signed_in, request, secret) if secret else Identity()
    request.state.identity = identity
    return identity


async def current_api_identity(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]
) -> Identity:
    """Dependency of the API: a bearer token's person, or else the one signed in with this browser.

    Raises:
        InvalidTokenError: the token is not one of ours, or no longer valid.
        ForgedRequestError: a browser's session wants to change something without showing the forms' token.
    """
    if "authorization" not in request.headers:
        identity = await current_identity(request)
        if identity.user is not None and request.method not in SAFE_METHODS:
            verify_csrf(request, request.headers.get(HEADER))
        return identity
    identity = await run_in_threadpool(_of_token, request, credentials.credentials if credentials else "")
    request.state.identity = identity
    return identity


def _signed_in(request: Request, secret: str) -> Identity:
    with _database(request).reading() as session:
        found = accounts.user_of_session(session, secret, idle_timeout=_settings(request).session_idle_timeout)
    if found is None:
        return Identity()
    user, used = found
    _record_use(request, used)
    return Identity(user, ALL_SCOPES, used)


def _of_token(request: Request, secret: str) -> Identity:
    with _database(request).reading() as session:
        found = accounts.user_of_token(session, secret) if secret else None
    if found is None:
        raise InvalidTokenError("The token is unknown, expired or revoked. Create a new one on your account page.")
    user, used = found
    _record_use(request, used)
    return Identity(accounts.acting_with(user, used.granted), used.granted, token=used)


def viewer_now(session: Session, identity: Identity) -> User | None:
    """Return the person of a request that began a while ago, as the database has it now; None for a visitor.

    Raises:
        NotSignedInError: the browser session or token has ended since, or the account has been disabled.
    """
    used = identity.session or identity.token
    if used is None:
        return None
    user = accounts.still_valid(session, used)
    if user is None:
        raise NotSignedInError("You have been signed out.")
    return accounts.acting_with(user, identity.scopes)


def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


def _database(request: Request) -> Database:
    database: Database = request.app.state.database
    return database


def _record_use(request: Request, used: WebSession | ApiToken) -> None:
    if accounts.is_use_worth_recording(used):
        with _database(request).writing() as session:
            accounts.record_use(session, used)


CurrentIdentity = Annotated[Identity, Depends(current_identity)]
ApiIdentity = Annotated[Identity, Depends(current_api_identity)]


async def require_user(identity: CurrentIdentity) -> User:
    """Dependency of the pages of signed-in people.

    Raises:
        NotSignedInError: a visitor.
    """
    return identity.require_user()


async def require_organiser(identity: CurrentIdentity) -> User:
    """Dependency of organisers' pages. Which challenges a person organises is the service's to say.

    Raises:
        NotSignedInError: a visitor.
        ForbiddenError: a participant.
    """
    user = identity.require_user()
    if not identity.may_organise:
        raise ForbiddenError("Only organisers can do this.")
    return user


def requires(scope: Scope) -> Callable[[Identity], Awaitable[User]]:
    """Make the dependency of API routes that need a person and a scope.

    It raises `NotSignedInError` for a visitor and `ForbiddenError` for a token without the scope.
    """

    async def user_with_scope(identity: ApiIdentity) -> User:
        user = identity.require_user()
        if scope not in identity.scopes:
            raise ForbiddenError(
                f"The token lacks the scope {scope.value!r}. Create a token with this scope on your account page."
            )
        return user

    return user_with_scope


async def reader(identity: ApiIdentity) -> User | None:
    """Dependency of API routes that visitors may read: the person if the request has one, with the scope to read.

    Raises:
        ForbiddenError: a token without the scope `read`.
    """
    if identity.user is not None and identity.reader is None:
        raise ForbiddenError("The token lacks the scope 'read'. Create a token with this scope on your account page.")
    return identity.user


SignedIn = Annotated[User, Depends(require_user)]
Organiser = Annotated[User, Depends(require_organiser)]
Viewer = Annotated[User | None, Depends(reader)]
ReadingUser = Annotated[User, Depends(requires(Scope.READ))]
SubmittingUser = Annotated[User, Depends(requires(Scope.SUBMIT))]
OrganisingUser = Annotated[User, Depends(requires(Scope.ORGANISE))]
