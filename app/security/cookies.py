"""The two cookies: who is signed in, and which browser a form was shown to.

Behind TLS their names begin with `__Host-`: no other host of the domain can set them.
"""

from datetime import timedelta

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response

from app.settings import Settings

SESSION = "vocboard_session"
VISITOR = "vocboard_visitor"


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
