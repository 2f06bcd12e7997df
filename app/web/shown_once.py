"""Secrets that a page shows once, after a form that ends in a redirect.

The secret travels to the next page in a cookie, encrypted for this browser's session and this page. The page deletes
the cookie, so that reloading it neither sends the form again nor shows the secret again. Nothing is stored on the
server, which only keeps the hash of the secret.
"""

from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response

from vocboard.app.accounts.tickets import Tickets
from vocboard.app.settings import Settings
from vocboard.app.web import cookies

LIFETIME = timedelta(minutes=5)  # from the form to the page


def show_once(response: Response, request: Request, settings: Settings, *, page: str, secret: str) -> None:
    """Let the next page show a secret.

    Args:
        page: path of the only page that shows it.
    """
    ticket = _tickets(request, settings).issue({"page": page, "secret": secret}, LIFETIME)
    cookies.SHOWN_ONCE.set(response, settings, ticket, LIFETIME)


def forget(response: Response, settings: Settings) -> None:
    """Delete the cookie: the page has shown the secret, or it was revoked."""
    cookies.SHOWN_ONCE.clear(response, settings)


def shown_once(request: Request, settings: Settings) -> str | None:
    """Return the secret that this page is to show; None if there is none, it is old, or belongs to another session."""
    content = _tickets(request, settings).content(cookies.SHOWN_ONCE.of(request, settings))
    return str(content["secret"]) if content.get("page") == request.url.path else None


def _tickets(request: Request, settings: Settings) -> Tickets:
    session = cookies.SESSION.of(request, settings)
    return Tickets(f"shown once {session}", server_key=settings.secret_key.get_secret_value())
