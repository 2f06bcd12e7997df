"""Random secrets that are shown once and stored hashed: session cookies, API tokens, anonymous links."""

import hashlib
import secrets

SECRET_BYTES = 32


def new_secret(prefix: str = "") -> str:
    """Return 256 random bits as URL-safe text after a prefix that tells what the secret is for."""
    return prefix + secrets.token_urlsafe(SECRET_BYTES)


def digest(secret: str) -> bytes:
    """Return the SHA-256 to store in a secret's place: with 256 random bits it needs neither salt nor slowness."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
