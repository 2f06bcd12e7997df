"""Signatures of webhooks, and how their secrets are stored.

Source: Standard Webhooks, https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hashlib
import hmac
import secrets
import uuid
from datetime import datetime

from nacl.exceptions import CryptoError

from vocboard.app.accounts.secret_tokens import box

PREFIX = "whsec_"
_PURPOSE = "webhooks"  # of the encryption of secrets
SECRET_BYTES = 32


def new_secret() -> str:
    """Return a secret, as it is shown once."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sealed(secret: str, *, server_key: str) -> bytes:
    """Encrypt a secret for the database.

    Args:
        server_key: `Settings.key_of_webhooks`.
    """
    return bytes(box(_PURPOSE, server_key=server_key).encrypt(secret.encode()))


def opened(sealed_secret: bytes, *, server_key: str) -> str | None:
    """Return a secret; None if the server's key has changed since."""
    try:
        return box(_PURPOSE, server_key=server_key).decrypt(sealed_secret).decode()
    except CryptoError:
        return None


def signed_headers(secret: str, message_id: uuid.UUID, instant: datetime, body: str) -> dict[str, str]:
    """Return the headers of one attempt."""
    seconds = int(instant.timestamp())
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signature = hmac.new(key, f"{message_id}.{seconds}.{body}".encode(), hashlib.sha256).digest()
    return {
        "webhook-id": str(message_id),
        "webhook-timestamp": str(seconds),
        "webhook-signature": f"v1,{base64.b64encode(signature).decode()}",
    }
