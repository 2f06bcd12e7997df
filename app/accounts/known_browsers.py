"""Known browsers: a long-lived cookie with a signed mark for each account that has signed in with the browser.

Failed attempts from elsewhere do not delay sign-ins with a mark. A new password invalidates all marks of the account.
"""

import hashlib
import hmac
import secrets
import uuid

from vocboard.app.accounts.models import User

MAX_ACCOUNTS = 5  # per browser; the oldest are dropped
_BETWEEN_MARKS = "~"


def with_mark(cookie: str, user: User, key: str) -> str:
    """Return the cookie's value with a mark for this user, who has just signed in.

    Args:
        cookie: the current value; empty if there is none.
        key: the server's secret.
    """
    others = [mark for mark in _marks(cookie) if not mark.startswith(user.id.hex)]
    name = recognised(cookie, user, key) or secrets.token_hex(8)
    return _BETWEEN_MARKS.join([_mark(user.id, name, user.password_hash, key), *others][:MAX_ACCOUNTS])


def recognised(cookie: str, user: User, key: str) -> str | None:
    """Return the browser's random name if its cookie has a valid mark for this user, else None."""
    for mark in _marks(cookie):
        parts = mark.split(".")
        if len(parts) == 3 and parts[0] == user.id.hex:
            expected = _mark(user.id, parts[1], user.password_hash, key)
            if hmac.compare_digest(expected.encode(), mark.encode()):
                return parts[1]
    return None


def _marks(cookie: str) -> list[str]:
    return cookie.split(_BETWEEN_MARKS)[:MAX_ACCOUNTS]


def _mark(user_id: uuid.UUID, name: str, password_hash: str, key: str) -> str:
    signed = f"known browser {user_id.hex} {name} {password_hash}"
    signature = hmac.new(key.encode(), signed.encode(), hashlib.sha256).hexdigest()
    return f"{user_id.hex}.{name}.{signature}"
