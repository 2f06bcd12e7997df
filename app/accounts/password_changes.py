"""Password changes.

None of these functions computes hashes: `PasswordWork` does that between two transactions.
"""

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from vocboard.app.accounts import links, passwords, queries, registration
from vocboard.app.accounts.models import ApiToken, User, WebSession
from vocboard.app.audit import service as audit
from vocboard.app.database import now
from vocboard.app.errors import NotSignedInError
from vocboard.app.forms import FieldChecks
from vocboard.app.messaging import outbox
from vocboard.app.settings import Settings


def check_new(user: User, password: str, *, field: str) -> None:
    """Check a new password.

    Raises:
        InvalidInputError: for `field`.
    """
    checks = FieldChecks()
    passwords.check(checks, field, password, about=(user.email, user.name))
    checks.finish()


def change(
    session: Session, *, user: User, verified_hash: str, password_hash: str, keep: WebSession | None, site: str
) -> None:
    """Set a user's new password, end all sessions but one, and revoke all tokens.

    Args:
        verified_hash: hash that the current password was just verified against.
        keep: the session to keep.

    Raises:
        NotSignedInError: the password was changed in the meantime.
    """
    stored = queries.locked_user(session, user.id)
    if stored is None or stored.password_hash != verified_hash:
        raise NotSignedInError("The password was changed in the meantime. Sign in with the new one.")
    set_hash(session, user=stored, password_hash=password_hash, keep=keep)
    outbox.put(session, to=stored.email, template="password-changed", site=site)
    audit.record(session, actor=stored, action="user.change_password", subject=stored)


def reset(session: Session, *, user: User, password_hash: str, settings: Settings) -> None:
    """Set the password of a user of this transaction who has used an email link, and end all sessions and tokens.

    The link also confirms the email address; see `registration.confirm`.
    """
    user = registration.confirm(session, user=user, settings=settings)
    set_hash(session, user=user, password_hash=password_hash, keep=None)
    outbox.put(session, to=user.email, template="password-changed", site=settings.public_url)
    audit.record(session, actor=user, action="user.reset_password", subject=user)


def set_hash(session: Session, *, user: User, password_hash: str, keep: WebSession | None) -> None:
    """Store the hash of a new password of a person of this transaction; end the sessions but `keep`, and all tokens.

    Earlier links in emails also end, because a reader of an old email could set another password.
    """
    user.password_hash = password_hash
    ended = delete(WebSession).where(WebSession.user_id == user.id)
    session.execute(ended.where(WebSession.id != keep.id) if keep else ended)
    revoke_tokens(session, user)
    links.revoke(session, user)


def revoke_tokens(session: Session, user: User) -> None:
    """Revoke all tokens of a user."""
    session.execute(
        update(ApiToken).where(ApiToken.user_id == user.id, ApiToken.revoked_at.is_(None)).values(revoked_at=now())
    )
