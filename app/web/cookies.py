"""The cookies: who is signed in, which browser a form was shown to, who has signed in with this browser before.

Behind TLS their names begin with `__Host-`: no other host of the domain can set them.
"""

from datetime import timedelta

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response

from vocboard.app.settings import Settings

SESSION = "vocboard_session"
VISITOR = "vocboard_visitor"
KNOWN_BROWSER = "vocboard_known_browser"
KNOWN_BROWSER_LIFETIME = timedelta(days=180)
LONGEST_KNOWN_BROWSER = 2000


def session_token(connection: HTTPConnection, settings: Settings) -> str | None:
    """The token of the browser session, if the browser sent one."""
    return connection.cookies.get(_name(SESSION, settings))


def visitor_token(connection: HTTPConnection, settings: Settings) -> str | None:
    """The token of a browser that nobody has signed in with."""
    return connection.cookies.get(_name(VISITOR, settings))


def set_session(response: Response, settings: Settings, token: str) -> None:
    """Sign the browser in."""
    _set(response, settings, SESSION, token, settings.session_lifetime)


def clear_session(response: Response, settings: Settings) -> None:
    """Sign the browser out."""
    _set(response, settings, SESSION, "", timedelta(0))


def known_browser(connection: HTTPConnection, settings: Settings) -> str:
    """What remembers earlier sign-ins with this browser; empty if it sent nothing."""
    return connection.cookies.get(_name(KNOWN_BROWSER, settings), "")[:LONGEST_KNOWN_BROWSER]


def set_known_browser(response: Response, settings: Settings, marks: str) -> None:
    """Remember that somebody has signed in with this browser; it stays when they sign out."""
    _set(response, settings, KNOWN_BROWSER, marks, KNOWN_BROWSER_LIFETIME)


def visitor_header(settings: Settings, token: str) -> str:
    """Value of a `Set-Cookie` header that remembers a browser nobody has signed in with, until it is closed."""
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
