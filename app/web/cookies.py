"""Cookies: the session, the visitor token for CSRF, known browsers, and what one page leaves to the next.

With https, their names begin with `__Host-`, so that other hosts of the domain cannot set them.
"""

from dataclasses import dataclass
from datetime import timedelta

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response

from vocboard.app.settings import Settings


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie that scripts cannot read.

    Attributes:
        base: its name without https.
    """

    base: str

    def name(self, settings: Settings) -> str:
        """Return its name."""
        return f"__Host-{self.base}" if settings.secure_cookies else self.base

    def of(self, connection: HTTPConnection, settings: Settings) -> str:
        """Return its value; empty if there is none."""
        return connection.cookies.get(self.name(settings), "")

    def set(self, response: Response, settings: Settings, value: str, lifetime: timedelta | None) -> None:
        """Set it.

        Args:
            lifetime: None until the browser is closed.
        """
        response.set_cookie(
            self.name(settings),
            value,
            max_age=None if lifetime is None else int(lifetime.total_seconds()),
            path="/",
            secure=settings.secure_cookies,
            httponly=True,
            samesite="lax",
        )

    def clear(self, response: Response, settings: Settings) -> None:
        """Delete it."""
        self.set(response, settings, "", timedelta(0))


SESSION = Cookie("vocboard_session")  # the token of the browser session
VISITOR = Cookie("vocboard_visitor")  # the visitor token of a browser without a session
KNOWN_BROWSER = Cookie("vocboard_known_browser")  # of earlier sign-ins with this browser; kept after signing out
SHOWN_ONCE = Cookie("vocboard_shown_once")  # the sealed secret of `app.web.shown_once`
CODE_WANTED = Cookie("vocboard_code_wanted")  # what a browser got for its password, until it sends a code
PROVIDER_ASKED = Cookie("vocboard_provider_asked")  # what a browser has begun at a provider of OpenID Connect
IDENTITY = Cookie("vocboard_identity")  # the identity that a browser has proven and that has no account yet
RETURN_TO = Cookie("vocboard_return_to")  # the address that a newcomer came from, quoted and unchecked


def visitor_header(settings: Settings, token: str) -> str:
    """Return the `Set-Cookie` header for the visitor token, which lasts until the browser is closed."""
    carrier = Response()
    VISITOR.set(carrier, settings, token, None)
    return MutableHeaders(raw=carrier.raw_headers)["set-cookie"]
