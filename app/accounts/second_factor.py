"""The second factor: codes of an authenticator app, and recovery codes. Sign-in asks for one after the password.

Neither a token nor another password replaces it: tokens are created in a session, which has passed it, and setting it
up ends what was signed in or created before. A code is accepted once, one time step early or late. The key of the app
is encrypted with a key derived from the server's secret, so that a copy of the database alone does not sign in.

Source: RFC 6238, "TOTP: Time-Based One-Time Password Algorithm".
"""

import base64
import hmac
import secrets
import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta

import pyotp
from nacl.exceptions import CryptoError
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from vocboard.app import rate_limits
from vocboard.app.accounts import links, queries, security_keys
from vocboard.app.accounts.models import Role, SecondFactor, SecurityKey, User, WebSession
from vocboard.app.accounts.password_changes import revoke_tokens
from vocboard.app.accounts.secret_tokens import box, digest
from vocboard.app.accounts.security_keys import KeyAnswer, RefusedKeyError
from vocboard.app.audit import service as audit
from vocboard.app.database import OutcomeError, now
from vocboard.app.errors import ConflictError, ForbiddenError, InvalidInputError, NotSignedInError
from vocboard.app.messaging import outbox
from vocboard.app.rate_limits import Limit
from vocboard.app.settings import SecondFactorPolicy, Settings

STEP_SECONDS = 30
STEPS_OFF = 1  # that a clock may be early or late
RECOVERY_CODES = 10
RECOVERY_CODE_BYTES = 10  # 80 random bits: stored without salt or slow hash
SET_UP_WITHIN = timedelta(minutes=30)
_PURPOSE = "second factor"  # of the encryption of keys


class WrongCodeError(InvalidInputError, OutcomeError):
    """The code is wrong, was used before, or is too old; the error does not say which."""


class SecondFactorRequiredError(ForbiddenError):
    """The operators of the server require a second factor for this, which the user has not set up."""

    code, title = "second_factor_required", "Set up a second factor first"

    def __init__(self) -> None:
        super().__init__("On this server, organisers need a second factor. Set it up on the Account page.")


def is_set_up(session: Session, user_id: uuid.UUID) -> bool:
    """Whether signing in asks a user for a code."""
    confirmed = select(SecondFactor.user_id).where(
        SecondFactor.user_id == user_id, SecondFactor.confirmed_at.is_not(None)
    )
    return session.scalar(confirmed) is not None


def is_missing(session: Session, user: User, policy: SecondFactorPolicy) -> bool:
    """Whether a user must set up a second factor before organising anything."""
    is_asked = policy is SecondFactorPolicy.ORGANISERS and user.role is not Role.PARTICIPANT
    return is_asked and not is_set_up(session, user.id)


def state(session: Session, user: User) -> SecondFactor | None:
    """Return a user's second factor; None without one, or if its set-up has taken too long."""
    found = session.get(SecondFactor, user.id)
    is_old = found is not None and found.confirmed_at is None and found.created_at <= now() - SET_UP_WITHIN
    return None if is_old else found


def begin(session: Session, *, user: User, settings: Settings) -> None:
    """Create the key of a new app, in place of one whose set-up was not finished.

    Raises:
        ConflictError: the user has a second factor.
    """
    _locked(session, user)
    found = session.get(SecondFactor, user.id, populate_existing=True)
    if found is not None and found.confirmed_at is not None:
        raise ConflictError("You have a second factor already. Remove it first.")
    if found is not None:
        session.delete(found)
        session.flush()
    sealed = box(_PURPOSE, server_key=settings.secret_key.get_secret_value()).encrypt(pyotp.random_base32().encode())
    session.add(SecondFactor(user_id=user.id, sealed_key=bytes(sealed), recovery_hashes=[]))


def app_key(found: SecondFactor, *, server_key: str) -> str | None:
    """Return the app's key in Base32; None if the server's secret has changed since."""
    try:
        return box(_PURPOSE, server_key=server_key).decrypt(found.sealed_key).decode()
    except CryptoError:
        return None


def encrypt_again(session: Session, *, server_key: str, former_keys: Sequence[str]) -> tuple[int, int]:
    """Encrypt the keys of all apps with the server's current secret; return how many were, and how many cannot be."""
    changed = lost = 0
    for found in session.scalars(select(SecondFactor).with_for_update()):
        if app_key(found, server_key=server_key) is None:
            key = next(filter(None, (app_key(found, server_key=former) for former in former_keys)), None)
            if key is None:
                lost += 1
            else:
                found.sealed_key = bytes(box(_PURPOSE, server_key=server_key).encrypt(key.encode()))
                changed += 1
    return changed, lost


def address_for_app(key: str, *, user: User, issuer: str) -> str:
    """Return the `otpauth:` address that apps read from a QR code.

    Args:
        issuer: name of the server, for the app's list.
    """
    return pyotp.TOTP(key).provisioning_uri(name=user.email, issuer_name=issuer)


def confirm(session: Session, *, user: User, code: str, keep: WebSession | None, settings: Settings) -> list[str]:
    """Finish the set-up with a first code; end all other sessions, all links and all tokens.

    Args:
        keep: the session to keep.

    Returns:
        The recovery codes, which are not stored: show them now.

    Raises:
        ConflictError: no set-up has begun, or it has taken too long.
        WrongCodeError: for `code`.
        LimitedError: too many wrong codes.
    """
    stored = _locked(session, user)
    found = state(session, user)
    if found is None or found.confirmed_at is not None:
        raise ConflictError("Begin the set-up again.")
    _accept(session, found, code, server_key=settings.secret_key.get_secret_value())
    found.confirmed_at = now()
    ended = delete(WebSession).where(WebSession.user_id == user.id)
    session.execute(ended.where(WebSession.id != keep.id) if keep else ended)
    revoke_tokens(session, stored)
    links.revoke(session, stored)
    outbox.put(session, to=stored.email, template="second-factor", site=settings.public_url, is_set_up=True)
    audit.record(session, actor=stored, action="user.set_up_second_factor", subject=stored)
    return _new_recovery_codes(found)


def check(session: Session, *, user: User, code: str, server_key: str) -> None:
    """Use a code of the app, or a recovery code, for a user of this transaction, who is locked.

    Raises:
        WrongCodeError: for `code`; the attempt is counted.
        LimitedError: too many wrong codes.
    """
    found = session.get_one(SecondFactor, user.id, populate_existing=True)
    _accept(session, found, code, server_key=server_key)


def check_key(session: Session, *, user: User, answer: KeyAnswer, settings: Settings) -> None:
    """Check the answer of a security key in place of a code; as `check`.

    Raises:
        WrongCodeError: for `code`; the attempt is counted.
        LimitedError: too many wrong codes.
    """
    limits = _limits(user.id)
    rate_limits.enforce(session, limits)
    try:
        security_keys.check(session, user=user, answer=answer, settings=settings)
    except RefusedKeyError:
        raise _refused(session, user.id, limits, "This security key was not accepted. Try again.") from None


def add_key(session: Session, *, user: User, answer: KeyAnswer, label: str, settings: Settings) -> None:
    """Add a security key to the second factor of a user, and tell the user by email.

    Raises:
        ConflictError: the user has no second factor; or as `security_keys.add`.
        InvalidInputError: as `security_keys.add`.
    """
    stored = _locked(session, user)
    _confirmed(session, stored)
    added = security_keys.add(session, user=stored, answer=answer, label=label, settings=settings)
    _record_key(session, stored, added, settings, is_added=True)


def remove_key(session: Session, *, user: User, key_id: str, settings: Settings) -> None:
    """Remove a security key of a user, and tell the user by email.

    Raises:
        NotFoundError: the user has no such key.
    """
    stored = _locked(session, user)
    removed = security_keys.remove(session, user=stored, key_id=key_id)
    _record_key(session, stored, removed, settings, is_added=False)


def _record_key(session: Session, user: User, key: SecurityKey, settings: Settings, *, is_added: bool) -> None:
    site, action = settings.public_url, "user.add_security_key" if is_added else "user.remove_security_key"
    outbox.put(session, to=user.email, template="security-key", site=site, label=key.label, is_added=is_added)
    audit.record(session, actor=user, action=action, subject=user, details={"label": key.label})


def replace_recovery_codes(session: Session, *, user: User) -> list[str]:
    """Return new recovery codes; the earlier ones no longer work.

    Raises:
        ConflictError: the user has no second factor.
    """
    stored = _locked(session, user)
    found = _confirmed(session, stored)
    audit.record(session, actor=stored, action="user.replace_recovery_codes", subject=stored)
    return _new_recovery_codes(found)


def remove(session: Session, *, user: User, site: str, actor: User | None = None) -> None:
    """Remove a user's second factor, for example because the app and the recovery codes are lost.

    Raises:
        ConflictError: the user has none.
    """
    stored = _locked(session, user)
    session.delete(_confirmed(session, stored))
    session.execute(delete(SecurityKey).where(SecurityKey.user_id == stored.id))
    outbox.put(session, to=stored.email, template="second-factor", site=site, is_set_up=False)
    audit.record(session, actor=actor, action="user.remove_second_factor", subject=stored)


def _accept(session: Session, found: SecondFactor, code: str, *, server_key: str) -> None:
    limits = _limits(found.user_id)
    rate_limits.enforce(session, limits)
    typed = "".join(code.split()).replace("-", "").upper()
    step = _step_of(found, typed, server_key)
    if step is not None:
        found.last_step = step
        return
    hashed = digest(typed).hex()
    person = audit.Row("users", found.user_id)
    if found.confirmed_at is not None and hashed in found.recovery_hashes:
        found.recovery_hashes = [one for one in found.recovery_hashes if one != hashed]
        left = {"left": len(found.recovery_hashes)}
        audit.record(session, actor=person, action="user.use_recovery_code", subject=person, details=left)
        return
    raise _refused(session, found.user_id, limits, "This code is wrong, or it was used before. Wait for the next one.")


def _limits(user_id: uuid.UUID) -> dict[Limit, str]:
    return {rate_limits.SECOND_FACTOR: str(user_id), rate_limits.SECOND_FACTOR_OF_DAY: str(user_id)}


def _refused(session: Session, user_id: uuid.UUID, limits: Mapping[Limit, str], message: str) -> WrongCodeError:
    """Count a wrong code, and return the error."""
    rate_limits.count(session, limits)
    audit.record(session, actor=None, action="user.second_factor_failed", subject=audit.Row("users", user_id))
    return WrongCodeError({"code": message})


def _step_of(found: SecondFactor, code: str, server_key: str) -> int | None:
    """Return the time step of a code of the app, if it is valid and later than the last one that was accepted."""
    key = app_key(found, server_key=server_key)
    if key is None:
        return None
    current = int(now().timestamp()) // STEP_SECONDS
    app = pyotp.TOTP(key, interval=STEP_SECONDS)
    for step in range(current - STEPS_OFF, current + STEPS_OFF + 1):
        is_same = hmac.compare_digest(app.generate_otp(step).encode(), code.encode("utf-8", "replace"))
        if is_same and (found.last_step is None or step > found.last_step):
            return step
    return None


def _new_recovery_codes(found: SecondFactor) -> list[str]:
    codes = [base64.b32encode(secrets.token_bytes(RECOVERY_CODE_BYTES)).decode() for _ in range(RECOVERY_CODES)]
    found.recovery_hashes = [digest(code).hex() for code in codes]
    return ["-".join(code[start : start + 4] for start in range(0, len(code), 4)) for code in codes]


def _locked(session: Session, user: User) -> User:
    stored = queries.locked_user(session, user.id)
    if stored is None:
        raise NotSignedInError("Sign in first.")
    return stored


def _confirmed(session: Session, user: User) -> SecondFactor:
    found = session.get(SecondFactor, user.id, populate_existing=True)
    if found is None or found.confirmed_at is None:
        raise ConflictError(f"The account of {user.email} has no second factor.")
    return found
