"""Passwords: what is accepted, and argon2 with the same work whether or not there is an account."""

import functools

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from app.fields import FieldChecks

LEAST_CHARACTERS = 10
MOST_CHARACTERS = 500  # more is an attack on the processor, not a password

_hasher = PasswordHasher()  # RFC 9106's low-memory profile: 64 MiB, 3 passes


def check(checks: FieldChecks, field: str, password: str, *, email: str) -> None:
    """Note what is wrong with a new password. Length is what counts; no rules of composition (NIST SP 800-63B)."""
    if len(password) < LEAST_CHARACTERS:
        checks.fail(field, f"Use at least {LEAST_CHARACTERS} characters.")
    elif len(password) > MOST_CHARACTERS:
        checks.fail(field, f"Use at most {MOST_CHARACTERS} characters.")
    elif len(set(password)) < 4 or password.casefold() == email.casefold():
        checks.fail(field, "That is too easy to guess.")


def hashed(password: str) -> str:
    """Return the argon2id hash, salt and parameters included."""
    return _hasher.hash(password.encode("utf-8", "surrogatepass"))


def matches(password: str, password_hash: str | None) -> bool:
    """Whether the password is the hash's; with no hash (no such account) always False, after the same work."""
    if len(password) > MOST_CHARACTERS:
        password = ""
    try:
        _hasher.verify(password_hash or _nobodys_hash(), password.encode("utf-8", "surrogatepass"))
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


def is_outdated(password_hash: str) -> bool:
    """Whether the hash was made with other parameters than today's."""
    return _hasher.check_needs_rehash(password_hash)


@functools.cache
def _nobodys_hash() -> str:
    return hashed("the password of nobody")
