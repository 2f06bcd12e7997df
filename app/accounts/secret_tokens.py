"""Random secrets that are shown once and stored as hashes: session cookies, API tokens, links."""

import hashlib
import secrets

SECRET_BYTES = 32


def new_secret(prefix: str = "") -> str:
    """Return 256 random bits as URL-safe text, after a prefix for the kind of secret."""
    return prefix + secrets.token_urlsafe(SECRET_BYTES)


def digest(secret: str) -> bytes:
    """Return the SHA-256 of a secret, for storage. Secrets of 256 random bits need neither salt nor a slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
