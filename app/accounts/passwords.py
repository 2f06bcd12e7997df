"""Passwords: what is accepted, and argon2 with the same work whether or not there is an account."""

import functools
import re
import string
from collections.abc import Sequence

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from vocboard.app.forms.fields import FieldChecks

LEAST_CHARACTERS = 10
MOST_CHARACTERS = 500  # more is an attack on the processor, not a password
LEAST_GUESSES = 1_000_000  # as estimated by zxcvbn; sign-in lets nobody try nearly as many
ESTIMATED_CHARACTERS = 32  # the estimate takes long for long passwords, which hardly need one
LEAST_STEM = 6
_DECORATION = string.digits + string.punctuation + string.whitespace  # what people add to a common password

# The first choice of OWASP's password storage cheat sheet: 19 MiB, 2 passes, one lane. RFC 9106's low-memory profile
# (64 MiB, 3 passes) takes six times as long, and so do people who sign in while somebody tries many passwords.
_hasher = PasswordHasher(memory_cost=19 * 1024, time_cost=2, parallelism=1)


def check(checks: FieldChecks, field: str, password: str, *, about: Sequence[str]) -> None:
    """Note what is wrong with a new password.

    Length and a list of common passwords are what counts; no rules of composition (NIST SP 800-63B, section 5.1.1.2).

    Args:
        about: what an attacker tries first: the person's e-mail address and name.
    """
    if len(password) < LEAST_CHARACTERS:
        checks.fail(field, f"Use at least {LEAST_CHARACTERS} characters.")
    elif len(password) > MOST_CHARACTERS:
        checks.fail(field, f"Use at most {MOST_CHARACTERS} characters.")
    elif len(set(password)) < 4 or is_guessable(password, about):
        checks.fail(field, "This password is common or easy to guess. Use a few unrelated words.")


def is_guessable(password: str, about: Sequence[str]) -> bool:
    """Whether a password is on the bundled list of common and leaked ones, or guessed within a million attempts.

    Args:
        about: words that belong to the person.
    """
    from zxcvbn import zxcvbn  # noqa: PLC0415  # see _common_passwords

    common = _common_passwords()
    folded = password.casefold()
    stems = {folded, folded.strip(_DECORATION), folded.rstrip(_DECORATION)}
    # A stem shorter than this is a common word inside of a password, which the estimate below judges.
    if any(stem in common for stem in stems if len(stem) >= LEAST_STEM):
        return True
    words = [part.casefold() for text in about for part in (text, *re.split(r"[^\w]+", text)) if len(part) > 2]
    rest = functools.reduce(lambda left, word: left.replace(word, ""), sorted(words, key=len, reverse=True), folded)
    if rest != folded and len(rest.strip(_DECORATION)) < LEAST_STEM:
        return True
    estimate = zxcvbn(password[:ESTIMATED_CHARACTERS], user_inputs=words[:20], max_length=ESTIMATED_CHARACTERS)
    return int(estimate["guesses"]) < LEAST_GUESSES


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
def _common_passwords() -> frozenset[str]:
    # Takes 0.1 s to import, which only a process that sees new passwords needs.
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # noqa: PLC0415

    return frozenset(FREQUENCY_LISTS["passwords"])


@functools.cache
def _nobodys_hash() -> str:
    return hashed("the password of nobody")
