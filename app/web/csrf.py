"""CSRF protection, in two layers.

Every request that changes something without a bearer token must come from this site according to the browser
(`Sec-Fetch-Site`, `Origin`), and contain a CSRF token. The token is derived from the cookie, so it belongs to one
session and needs no storage; it does not reveal the cookie.
"""

import hashlib
import hmac
import secrets
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vocboard.app.errors import ForbiddenError
from vocboard.app.intake.multipart import CSRF_FIELD
from vocboard.app.settings import Settings
from vocboard.app.web import cookies
from vocboard.app.web.dependencies import services_of

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
FIELD = CSRF_FIELD
HEADER = "X-CSRF-Token"
VISITOR_TOKEN_BYTES = 32
_FORGED = "This request did not come from a page of this site. Reload the page and submit the form again."


class ForgedRequestError(ForbiddenError):
    """The request was not sent by a page of this site."""

    code = "forged_request"
    title = "The form could not be accepted"


def csrf_token(request: Request) -> str:
    """Return the CSRF token for forms: in the field `csrf_token` or the header `X-CSRF-Token`.

    A browser without a cookie gets one with the response.
    """
    settings = services_of(request).settings
    secret = _cookie(request, settings) or getattr(request.state, "new_visitor", None)
    if not secret:
        secret = request.state.new_visitor = secrets.token_urlsafe(VISITOR_TOKEN_BYTES)
    return form_token(secret, settings)


def form_token(secret: str, settings: Settings) -> str:
    """Return the token that belongs to the session, or visitor, of a cookie."""
    key = settings.secret_key.get_secret_value() + secret
    return hmac.new(key.encode(), b"vocboard form", hashlib.sha256).hexdigest()


def verify_csrf(request: Request, token: str | None) -> None:
    """Verify the token of a form.

    Raises:
        ForgedRequestError: it is missing, or belongs to another session.
    """
    settings = services_of(request).settings
    secret = _cookie(request, settings)
    if not token or not secret or not hmac.compare_digest(form_token(secret, settings).encode(), token.encode()):
        raise ForgedRequestError(_FORGED)


async def protect_form(request: Request) -> None:
    """Dependency of all form handlers: verifies the token in the field or header.

    Raises:
        ForgedRequestError: as `verify_csrf`.
    """
    token = request.headers.get(HEADER)
    if token is None:
        field = (await request.form()).get(FIELD)
        token = field if isinstance(field, str) else None
    verify_csrf(request, token)


class ForgeryProtection:
    """Middleware that rejects cross-site requests that change something, and sets the visitor cookie."""

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        if scope["method"] not in SAFE_METHODS and not _by_token(connection) and not self._from_here(connection):
            raise ForgedRequestError(_FORGED)
        state = scope.setdefault("state", {})

        async def send_with_visitor(message: Message) -> None:
            visitor = state.get("new_visitor")
            if visitor is not None and message["type"] == "http.response.start":
                MutableHeaders(scope=message).append("Set-Cookie", cookies.visitor_header(self._settings, visitor))
            await send(message)

        await self._app(scope, receive, send_with_visitor)

    def _from_here(self, connection: HTTPConnection) -> bool:
        site = connection.headers.get("sec-fetch-site")
        if site is not None:
            return site in {"same-origin", "none"}
        origin = connection.headers.get("origin")
        if origin is None:
            return True  # an old browser; the token decides
        public = urlsplit(self._settings.public_url)
        asked = f"{connection.url.scheme}://{connection.headers.get('host')}"
        return origin in {f"{public.scheme}://{public.netloc}", asked}


def _by_token(connection: HTTPConnection) -> bool:
    """Whether the request has a bearer token, which browsers never add automatically."""
    return connection.url.path.startswith("/api/") and "authorization" in connection.headers


def _cookie(connection: HTTPConnection, settings: Settings) -> str:
    return cookies.SESSION.of(connection, settings) or cookies.VISITOR.of(connection, settings)
