"""API tokens: bearer secrets with scopes and an expiry date."""

import uuid
from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta

from sqlalchemy import inspect
from sqlalchemy.orm import Session

from vocboard.app.accounts import queries
from vocboard.app.accounts.models import ApiToken, Role, Scope, User
from vocboard.app.accounts.secret_tokens import digest, new_secret
from vocboard.app.audit import service as audit
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, NotFoundError
from vocboard.app.forms import FieldChecks

MAX_TOKENS = 50  # valid tokens per user
PREFIX = "vocb_"  # lets secret scanners recognise leaked tokens


def create_token(
    session: Session, *, user: User, label: str, scopes: Iterable[Scope], lifetime: timedelta
) -> tuple[ApiToken, str]:
    """Create a token.

    Args:
        lifetime: the caller checks that it is within the settings' limit.

    Returns:
        The token and its secret, which is not stored: show it now.

    Raises:
        InvalidInputError: for `label`, `scopes`, `lifetime`.
        ConflictError: the user has the maximum number of tokens.
    """
    checks = FieldChecks()
    tidy_label = checks.line("label", label, max_length=100, required=True)
    asked = frozenset(scopes)
    if not asked:
        checks.fail("scopes", "Choose at least one scope.")
    if Scope.ORGANISE in asked and user.role is Role.PARTICIPANT:
        checks.fail("scopes", "You do not organise challenges, so a token cannot have this scope.")
    if lifetime <= timedelta():
        checks.fail("lifetime", "Choose how long the token is valid.")
    checks.finish()
    instant = now()
    valid = [token for token in tokens_of(session, user) if token.revoked_at is None and token.expires_at > instant]
    if len(valid) >= MAX_TOKENS:
        raise ConflictError(f"You already have {MAX_TOKENS} tokens, which is the limit. Revoke one first.")
    secret = new_secret(PREFIX)
    token = ApiToken(
        user_id=user.id,
        label=tidy_label,
        token_hash=digest(secret),
        scopes=" ".join(scope for scope in Scope if scope in asked),
        expires_at=now() + lifetime,
    )
    session.add(token)
    details = {"label": token.label, "scopes": token.scopes, "expires_at": token.expires_at}
    audit.record(session, actor=user, action="token.create", subject=token, details=details)
    return token, secret


def user_of_token(session: Session, secret: str) -> tuple[User, ApiToken] | None:
    """Return the user and the token (with scopes `granted`) of a bearer secret.

    None if it is unknown, expired or revoked, or the user is disabled. Guessing 256 bits needs no rate limit.
    """
    found = queries.token_by_hash(session, digest(secret))
    return (found.user, found) if found else None


def acting_with(user: User, scopes: Collection[Scope]) -> User:
    """Return the user as limited by a token's scopes: without `organise`, as a participant.

    So everything that depends on the role respects the token's scopes, for reading as well as for changes.

    Returns:
        The user, or a detached copy, so that the lower role is never stored.
    """
    if Scope.ORGANISE in scopes or user.role is Role.PARTICIPANT:
        return user
    columns = {column.key: getattr(user, column.key) for column in inspect(User).column_attrs}
    return User(**columns | {"role": Role.PARTICIPANT})


def tokens_of(session: Session, user: User) -> Sequence[ApiToken]:
    """Return a user's tokens, including expired and revoked ones, newest first."""
    return queries.tokens_of(session, user.id)


def revoke_token(session: Session, *, user: User, token_id: uuid.UUID) -> None:
    """Revoke one of the user's own tokens. Idempotent.

    Raises:
        NotFoundError: the user has none with this id.
    """
    token = session.get(ApiToken, token_id)
    if token is None or token.user_id != user.id:
        raise NotFoundError("This token does not exist.")
    if token.revoked_at is None:
        token.revoked_at = now()
        audit.record(session, actor=user, action="token.revoke", subject=token, details={"label": token.label})
