"""Password rules, and argon2 with the same amount of work whether or not the account exists."""

import functools
import re
import string
from collections.abc import Sequence

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from vocboard.app.forms import FieldChecks

MIN_PASSWORD_LENGTH = 10
MAX_PASSWORD_LENGTH = 500  # a longer password would only cost processor time
MIN_GUESSES = 1_000_000  # estimated by zxcvbn; far more attempts than sign-in allows
ESTIMATED_CHARACTERS = 32  # estimating is slow for long passwords, which are strong anyway
MIN_STEM_LENGTH = 6
NO_PASSWORD = "!"  # in place of a hash  # noqa: S105
_DECORATION = string.digits + string.punctuation + string.whitespace  # typical suffixes of common passwords

# The first choice of OWASP's password storage cheat sheet: 19 MiB, 2 passes, one lane. RFC 9106's low-memory profile
# (64 MiB, 3 passes) takes six times as long, which delays sign-ins while an attacker tries many passwords.
_hasher = PasswordHasher(memory_cost=19 * 1024, time_cost=2, parallelism=1)


def check(checks: FieldChecks, field: str, password: str, *, about: Sequence[str]) -> None:
    """Check a new password, and record errors.

    Checks length and a list of common passwords, without composition rules (NIST SP 800-63B, section 5.1.1.2).

    Args:
        about: words that an attacker would try first: the user's email address and name.
    """
    if len(password) < MIN_PASSWORD_LENGTH:
        checks.fail(field, f"Use at least {MIN_PASSWORD_LENGTH} characters.")
    elif len(password) > MAX_PASSWORD_LENGTH:
        checks.fail(field, f"Use at most {MAX_PASSWORD_LENGTH} characters.")
    elif len(set(password)) < 4 or is_guessable(password, about):
        checks.fail(field, "This password is common or easy to guess. Use a few unrelated words.")


def is_guessable(password: str, about: Sequence[str]) -> bool:
    """Whether a password is on the bundled list of common and leaked passwords, or guessable within a million attempts.

    Args:
        about: words related to the user.
    """
    from zxcvbn import zxcvbn  # noqa: PLC0415  # see _common_passwords

    common = _common_passwords()
    folded = password.casefold()
    stems = {folded, folded.strip(_DECORATION), folded.rstrip(_DECORATION)}
    # Shorter stems are common words within a password; the estimate below covers these.
    if any(stem in common for stem in stems if len(stem) >= MIN_STEM_LENGTH):
        return True
    words = [part.casefold() for text in about for part in (text, *re.split(r"[^\w]+", text)) if len(part) > 2]
    rest = functools.reduce(lambda left, word: left.replace(word, ""), sorted(words, key=len, reverse=True), folded)
    if rest != folded and len(rest.strip(_DECORATION)) < MIN_STEM_LENGTH:
        return True
    estimate = zxcvbn(password[:ESTIMATED_CHARACTERS], user_inputs=words[:20], max_length=ESTIMATED_CHARACTERS)
    return int(estimate["guesses"]) < MIN_GUESSES


def hashed(password: str) -> str:
    """Return the argon2id hash with salt and parameters."""
    return _hasher.hash(password.encode("utf-8", "surrogatepass"))


def matches(password: str, password_hash: str | None) -> bool:
    """Whether the password matches the hash; False without a hash (no such account), after the same amount of work.

    An account without a password is as no account.
    """
    if len(password) > MAX_PASSWORD_LENGTH:
        password = ""
    if password_hash == NO_PASSWORD:
        password_hash = None
    try:
        _hasher.verify(password_hash or _hash_without_account(), password.encode("utf-8", "surrogatepass"))
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


def is_outdated(password_hash: str) -> bool:
    """Whether the hash was computed with other than the current parameters."""
    return _hasher.check_needs_rehash(password_hash)


@functools.cache
def _common_passwords() -> frozenset[str]:
    # Takes 0.1 s to import, and only processes that set passwords need it.
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # noqa: PLC0415

    return frozenset(FREQUENCY_LISTS["passwords"])


@functools.cache
def _hash_without_account() -> str:
    return hashed("the password of no account")
