"""Cookies: the session, the visitor token for CSRF, known browsers, and what one page leaves to the next.

With https, their names begin with `__Host-`, so that other hosts of the domain cannot set them.
"""

from datetime import timedelta
from urllib.parse import quote, unquote

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response

from vocboard.app.settings import Settings

SESSION = "vocboard_session"
VISITOR = "vocboard_visitor"
KNOWN_BROWSER = "vocboard_known_browser"
KNOWN_BROWSER_LIFETIME = timedelta(days=180)
MAX_KNOWN_BROWSER_LENGTH = 2000
SHOWN_ONCE = "vocboard_shown_once"
CODE_WANTED = "vocboard_code_wanted"
PROVIDER_ASKED = "vocboard_provider_asked"
IDENTITY = "vocboard_identity"
RETURN_TO = "vocboard_return_to"
RETURN_TO_LIFETIME = timedelta(days=2)  # until the email of a registration is opened


def session_cookie(settings: Settings) -> str:
    """Return the name of the session cookie."""
    return _name(SESSION, settings)


def session_token(connection: HTTPConnection, settings: Settings) -> str | None:
    """Return the token of the browser session, if there is one."""
    return connection.cookies.get(_name(SESSION, settings))


def visitor_token(connection: HTTPConnection, settings: Settings) -> str | None:
    """Return the visitor token of a browser without a session."""
    return connection.cookies.get(_name(VISITOR, settings))


def set_session(response: Response, settings: Settings, token: str) -> None:
    """Set the session cookie."""
    _set(response, settings, SESSION, token, settings.session_lifetime)


def clear_session(response: Response, settings: Settings) -> None:
    """Delete the session cookie."""
    _set(response, settings, SESSION, "", timedelta(0))


def known_browser(connection: HTTPConnection, settings: Settings) -> str:
    """Return the cookie of earlier sign-ins with this browser; empty if there is none."""
    return connection.cookies.get(_name(KNOWN_BROWSER, settings), "")[:MAX_KNOWN_BROWSER_LENGTH]


def set_known_browser(response: Response, settings: Settings, marks: str) -> None:
    """Set the cookie of known browsers, which is kept after signing out."""
    _set(response, settings, KNOWN_BROWSER, marks, KNOWN_BROWSER_LIFETIME)


def shown_once(connection: HTTPConnection, settings: Settings) -> str | None:
    """Return the sealed secret of `app.web.shown_once`."""
    return connection.cookies.get(_name(SHOWN_ONCE, settings))


def set_shown_once(response: Response, settings: Settings, sealed: str, lifetime: timedelta) -> None:
    """Set it."""
    _set(response, settings, SHOWN_ONCE, sealed, lifetime)


def code_wanted(connection: HTTPConnection, settings: Settings) -> str:
    """Return what a browser got for its password, until it sends a code; empty if there is nothing."""
    return connection.cookies.get(_name(CODE_WANTED, settings), "")


def set_code_wanted(response: Response, settings: Settings, ticket: str, lifetime: timedelta) -> None:
    """Set it."""
    _set(response, settings, CODE_WANTED, ticket, lifetime)


def provider_asked(connection: HTTPConnection, settings: Settings) -> str:
    """Return what a browser has begun at a provider of OpenID Connect; empty if there is nothing."""
    return connection.cookies.get(_name(PROVIDER_ASKED, settings), "")


def set_provider_asked(response: Response, settings: Settings, ticket: str, lifetime: timedelta) -> None:
    """Set it."""
    _set(response, settings, PROVIDER_ASKED, ticket, lifetime)


def identity(connection: HTTPConnection, settings: Settings) -> str:
    """Return the identity that a browser has proven and that has no account yet; empty if there is none."""
    return connection.cookies.get(_name(IDENTITY, settings), "")


def set_identity(response: Response, settings: Settings, ticket: str, lifetime: timedelta) -> None:
    """Set it."""
    _set(response, settings, IDENTITY, ticket, lifetime)


def return_to(connection: HTTPConnection, settings: Settings) -> str:
    """Return the address that a newcomer came from, unchecked; empty if there is none."""
    return unquote(connection.cookies.get(_name(RETURN_TO, settings), ""))


def set_return_to(response: Response, settings: Settings, address: str) -> None:
    """Keep the address that a newcomer came from until the registration is confirmed."""
    _set(response, settings, RETURN_TO, quote(address), RETURN_TO_LIFETIME)


def visitor_header(settings: Settings, token: str) -> str:
    """Return the `Set-Cookie` header for the visitor token, which lasts until the browser is closed."""
    carrier = Response()
    _set(carrier, settings, VISITOR, token, None)
    return MutableHeaders(raw=carrier.raw_headers)["set-cookie"]


def _name(name: str, settings: Settings) -> str:
    return f"__Host-{name}" if settings.secure_cookies else name


def _set(response: Response, settings: Settings, name: str, value: str, lifetime: timedelta | None) -> None:
    response.set_cookie(
        _name(name, settings),
        value,
        max_age=None if lifetime is None else int(lifetime.total_seconds()),
        path="/",
        secure=settings.secure_cookies,
        httponly=True,
        samesite="lax",
    )
