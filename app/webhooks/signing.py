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
from nacl.secret import SecretBox

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    """Return a secret, as it is shown once."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sealed(secret: str, *, server_key: str) -> bytes:
    """Encrypt a secret for the database.

    Args:
        server_key: `Settings.key_of_webhooks`.
    """
    return bytes(_box(server_key).encrypt(secret.encode()))


def opened(sealed_secret: bytes, *, server_key: str) -> str | None:
    """Return a secret; None if the server's key has changed since."""
    try:
        return _box(server_key).decrypt(sealed_secret).decode()
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


def _box(server_key: str) -> SecretBox:
    key = hashlib.sha256(server_key.encode()).digest()
    return SecretBox(hashlib.blake2b(b"webhooks", key=key, digest_size=32).digest())
