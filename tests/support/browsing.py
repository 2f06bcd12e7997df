"""A browser without a screen: keeps cookies and sends the token of the forms it is shown."""

import contextlib
from collections.abc import Iterator
from typing import Any

import httpx

from tests.support.factories import PASSWORD, make_user
from tests.support.form_tokens import token_of
from tests.support.site import Site
from vocboard.app.accounts import administration
from vocboard.app.accounts.service import start_session
from vocboard.app.web.cookies import SESSION

__all__ = ["browser_of", "from_here", "send_archive", "send_form", "sign_in", "signed_in", "token_of"]


def send_form(client: httpx.Client, shown_at: str, to: str | None = None, /, **fields: str) -> httpx.Response:
    """Open the page with a form, and send the form as a browser does.

    Args:
        shown_at: the page's path.
        to: the form's action; by default the page's own.
    """
    page = client.get(shown_at)
    return client.post(to or shown_at, data={"csrf_token": token_of(page), **fields}, headers=from_here(client))


def sign_in(client: httpx.Client, email: str, password: str = PASSWORD) -> None:
    """Sign in by the form, for what depends on it; `signed_in` takes a tenth of the time."""
    response = send_form(client, "/sign-in", email=email, password=password)
    assert response.status_code == 303, response.text[:2000]


@contextlib.contextmanager
def signed_in(site: Site, email: str | None = None, **given: Any) -> Iterator[httpx.Client]:
    """Yield a browser that has a session of somebody.

    Args:
        email: the person's address; without it a new person, for whom `given` are arguments of `make_user`.
    """
    with site.writing() as session:
        user = administration.get_user(session, email) if email else make_user(session, **given)
        secret = start_session(session, user=user, browser="", lifetime=site.settings.session_lifetime)
    with site.client() as client:
        client.cookies.set(SESSION.name(site.settings), secret, domain=client.base_url.host)
        yield client


def browser_of(site: Site, email: str | None) -> contextlib.AbstractContextManager[httpx.Client]:
    """Return a browser that has a session of somebody, or a visitor's."""
    return signed_in(site, email) if email else site.client()


def send_archive(
    client: httpx.Client, path: str, archive: bytes, name: str = "results.tar.gz", **fields: str
) -> httpx.Response:
    """Open the page of a challenge that takes submissions, and send its form with an archive; unless given, for `Mine`.

    Args:
        path: the page's.
        name: the archive's file name.
        fields: further fields of the form, or other values.
    """
    sent = {"csrf_token": "" if "csrf_token" in fields else token_of(client.get(path)), "method_name": "Mine", **fields}
    return client.post(path, data=sent, files={"archive": (name, archive)}, headers=from_here(client))


def from_here(client: httpx.Client) -> dict[str, str]:
    """Headers that a browser adds to a form of our own page."""
    return {"Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
