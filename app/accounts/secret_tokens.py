"""Random secrets that are shown once and stored as hashes: session cookies, API tokens, links.

And the encryption of what has to be read again, with keys that are derived from the server's secret.
"""

import hashlib
import secrets

from nacl.secret import SecretBox

SECRET_BYTES = 32


def new_secret(prefix: str = "") -> str:
    """Return 256 random bits as URL-safe text, after a prefix for the kind of secret."""
    return prefix + secrets.token_urlsafe(SECRET_BYTES)


def digest(secret: str) -> bytes:
    """Return the SHA-256 of a secret, for storage. Secrets of 256 random bits need neither salt nor a slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def box(purpose: str, *, server_key: str) -> SecretBox:
    """Return what encrypts and decrypts for one purpose: it has its own key, derived from the server's secret."""
    key = hashlib.sha256(server_key.encode()).digest()
    return SecretBox(hashlib.blake2b(purpose.encode(), key=key, digest_size=32).digest())
