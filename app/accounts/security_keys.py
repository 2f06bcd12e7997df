"""Security keys and passkeys (WebAuthn), which stand for the code of an authenticator app when signing in.

They are added to an account that has a second factor, so recovery codes are there if all of them are lost, and are
removed with it. A challenge is sealed for one person and purpose, valid for minutes, and accepted once.

Source: W3C, "Web Authentication", level 3, sections 7.1 and 7.2.
"""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from secrets import token_bytes
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import select
from sqlalchemy.orm import Session
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from vocboard.app import rate_limits
from vocboard.app.accounts.models import SecurityKey, User
from vocboard.app.accounts.tickets import Tickets
from vocboard.app.database import add_unique, now
from vocboard.app.errors import ConflictError, InvalidInputError, LimitedError, NotFoundError
from vocboard.app.forms import FieldChecks
from vocboard.app.settings import Settings

ANSWER_WITHIN = timedelta(minutes=10)
MAX_KEYS = 10  # of one account
MAX_LABEL_LENGTH = 100
CHALLENGE_BYTES = 32
# What the library raises about answers: also such that no key gives. The last: a list in a list in a list ...
_REFUSALS = (WebAuthnException, ValueError, TypeError, LookupError, RecursionError)


class RefusedKeyError(ValueError):
    """What a key has answered is not valid."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a page asks a key for.

    Attributes:
        options: JSON for the browser.
        challenge: the sealed challenge, which the form sends back.
    """

    options: str
    challenge: str


@dataclass(frozen=True, slots=True)
class KeyAnswer:
    """What a key has answered, in the browser's JSON, and the sealed challenge."""

    answer: str
    challenge: str


def keys_of(session: Session, user: User) -> Sequence[SecurityKey]:
    """Return the keys of a user, oldest first."""
    own = select(SecurityKey).where(SecurityKey.user_id == user.id)
    return session.scalars(own.order_by(SecurityKey.created_at, SecurityKey.id)).all()


def ask_for_new(session: Session, *, user: User, settings: Settings) -> Asked:
    """Return what creates a key for a user, whose password has just been verified."""
    challenge = token_bytes(CHALLENGE_BYTES)
    options = generate_registration_options(
        rp_id=_host(settings),
        rp_name=_host(settings),
        user_id=user.id.bytes,
        user_name=user.email,
        user_display_name=user.name,
        challenge=challenge,
        exclude_credentials=_described(keys_of(session, user)),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.DISCOURAGED,
            user_verification=UserVerificationRequirement.DISCOURAGED,  # the password was asked for
        ),
    )
    return Asked(options_to_json(options), _sealed(settings, "new", user, challenge))


def ask(session: Session, *, user: User, settings: Settings) -> Asked | None:
    """Return what signs in with one of a user's keys; None without keys."""
    keys = keys_of(session, user)
    if not keys:
        return None
    challenge = token_bytes(CHALLENGE_BYTES)
    options = generate_authentication_options(
        rp_id=_host(settings),
        challenge=challenge,
        allow_credentials=_described(keys),
        user_verification=UserVerificationRequirement.DISCOURAGED,
    )
    return Asked(options_to_json(options), _sealed(settings, "sign in", user, challenge))


def add(session: Session, *, user: User, answer: KeyAnswer, label: str, settings: Settings) -> SecurityKey:
    """Add a new key to a user of this transaction, who is locked.

    Raises:
        InvalidInputError: for `label`, or for `key`, if the answer is not valid.
        ConflictError: it is a key of an account already, or the account has too many.
    """
    checks = FieldChecks()
    label = checks.line("label", label, max_length=MAX_LABEL_LENGTH, required=True)
    checks.finish()
    if len(keys_of(session, user)) >= MAX_KEYS:
        raise ConflictError(f"An account can have {MAX_KEYS} security keys. Remove one first.")
    try:
        verified = verify_registration_response(
            credential=answer.answer,
            expected_challenge=_challenge(session, settings, "new", user, answer),
            expected_rp_id=_host(settings),
            expected_origin=_origin(settings),
        )
    except _REFUSALS:
        raise InvalidInputError({"key": "This security key was not accepted. Try again."}) from None
    added = SecurityKey(
        user_id=user.id,
        label=label,
        credential_id=verified.credential_id,
        public_key=verified.credential_public_key,
        sign_count=verified.sign_count,
    )
    if not add_unique(session, added):
        raise ConflictError("This security key belongs to an account already.")
    return added


def check(session: Session, *, user: User, answer: KeyAnswer, settings: Settings) -> SecurityKey:
    """Check what one of the keys of a user of this transaction, who is locked, has answered.

    Raises:
        RefusedKeyError: it is not valid.
    """
    try:
        challenge = _challenge(session, settings, "sign in", user, answer)
        for key in keys_of(session, user):
            try:
                verified = verify_authentication_response(
                    credential=answer.answer,
                    expected_challenge=challenge,
                    expected_rp_id=_host(settings),
                    expected_origin=_origin(settings),
                    credential_public_key=key.public_key,
                    credential_current_sign_count=key.sign_count,
                )
            except WebAuthnException:
                continue
            if verified.credential_id == key.credential_id:
                key.sign_count, key.last_used_at = verified.new_sign_count, now()
                return key
    except _REFUSALS:
        pass
    raise RefusedKeyError


def remove(session: Session, *, user: User, key_id: str) -> SecurityKey:
    """Remove a key of a user.

    Raises:
        NotFoundError: the user has no such key.
    """
    found = next((key for key in keys_of(session, user) if str(key.id) == key_id), None)
    if found is None:
        raise NotFoundError("This security key does not exist.")
    session.delete(found)
    return found


def _described(keys: Sequence[SecurityKey]) -> list[PublicKeyCredentialDescriptor]:
    return [PublicKeyCredentialDescriptor(id=key.credential_id) for key in keys]


def _tickets(settings: Settings) -> Tickets:
    return Tickets("security keys", server_key=settings.secret_key.get_secret_value())


def _sealed(settings: Settings, purpose: str, user: User, challenge: bytes) -> str:
    content = {"purpose": purpose, "user": user.id.hex, "challenge": b64encode(challenge).decode()}
    return _tickets(settings).issue(content, ANSWER_WITHIN)


def _challenge(session: Session, settings: Settings, purpose: str, user: User, answer: KeyAnswer) -> bytes:
    """Return the challenge that a key was to answer, which counts once.

    Raises:
        ValueError: it is old, was used, or is for something else.
    """
    content: dict[str, Any] = _tickets(settings).content(answer.challenge)
    if (content.get("purpose"), content.get("user")) != (purpose, user.id.hex):
        raise ValueError("challenge")
    challenge = b64decode(content["challenge"])
    once = {rate_limits.SECURITY_KEY_ANSWER: hashlib.sha256(challenge).hexdigest()}
    try:
        rate_limits.spend(session, once)
    except LimitedError:
        raise ValueError("used") from None
    return challenge


def _host(settings: Settings) -> str:
    return urlsplit(settings.public_url).hostname or ""


def _origin(settings: Settings) -> str:
    parts = urlsplit(settings.public_url)
    return f"{parts.scheme}://{parts.netloc}"
