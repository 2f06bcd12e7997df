"""Secrets that a page shows once, after a form that ends in a redirect.

The secret travels to the next page in a cookie, encrypted for this browser's session and this page. The page deletes
the cookie, so that reloading it neither sends the form again nor shows the secret again. Nothing is stored on the
server, which only keeps the hash of the secret.
"""

import hashlib
import json
import time
from datetime import timedelta

from nacl.encoding import URLSafeBase64Encoder
from nacl.exceptions import CryptoError
from nacl.secret import SecretBox
from starlette.requests import Request
from starlette.responses import Response

from vocboard.app.settings import Settings
from vocboard.app.web import cookies

LIFETIME = timedelta(minutes=5)  # from the form to the page


def show_once(response: Response, request: Request, settings: Settings, *, page: str, secret: str) -> None:
    """Let the next page show a secret.

    Args:
        page: path of the only page that shows it.
    """
    content = {"page": page, "secret": secret, "until": time.time() + LIFETIME.total_seconds()}
    sealed = _box(request, settings).encrypt(json.dumps(content).encode(), encoder=URLSafeBase64Encoder)
    cookies.SHOWN_ONCE.set(response, settings, sealed.decode(), LIFETIME)


def forget(response: Response, settings: Settings) -> None:
    """Delete the cookie: the page has shown the secret, or it was revoked."""
    cookies.SHOWN_ONCE.clear(response, settings)


def shown_once(request: Request, settings: Settings) -> str | None:
    """Return the secret that this page is to show; None if there is none, it is old, or belongs to another session."""
    sealed = cookies.SHOWN_ONCE.of(request, settings)
    if not sealed:
        return None
    try:
        plain = _box(request, settings).decrypt(sealed.encode(), encoder=URLSafeBase64Encoder)
    except (CryptoError, ValueError):  # not ours, or of another session
        return None
    content = json.loads(plain)
    is_due = content["page"] == request.url.path and time.time() < content["until"]
    return str(content["secret"]) if is_due else None


def _box(request: Request, settings: Settings) -> SecretBox:
    session = cookies.SESSION.of(request, settings)
    key = settings.secret_key.get_secret_value().encode()
    return SecretBox(hashlib.blake2b(session.encode(), key=hashlib.sha256(key).digest(), digest_size=32).digest())
