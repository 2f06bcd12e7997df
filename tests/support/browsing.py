"""A browser without a screen: keeps cookies and sends the token of the forms it is shown."""

import httpx

from tests.support.factories import PASSWORD
from tests.support.form_tokens import token_of

__all__ = ["from_here", "send_form", "sign_in", "token_of"]


def send_form(client: httpx.Client, shown_at: str, to: str | None = None, /, **fields: str) -> httpx.Response:
    """Open the page with a form, and send the form as a browser does.

    Args:
        shown_at: the page's path.
        to: the form's action; by default the page's own.
    """
    page = client.get(shown_at)
    return client.post(to or shown_at, data={"csrf_token": token_of(page), **fields}, headers=from_here(client))


def sign_in(client: httpx.Client, email: str, password: str = PASSWORD) -> None:
    """Set the session cookie."""
    response = send_form(client, "/sign-in", email=email, password=password)
    assert response.status_code == 303, response.text[:2000]


def from_here(client: httpx.Client) -> dict[str, str]:
    """Headers that a browser adds to a form of our own page."""
    return {"Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
