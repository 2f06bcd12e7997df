"""What remains of a deleted account: a row without anything personal, to which its results, quota and bans refer.

The row keeps a keyed hash of the mailbox. When a registration of the same mailbox is confirmed, the new account takes
over the row. So deleting an account and registering again neither gives quota back nor ends a ban. In place of the
mailbox, it has a keyed hash of the domain, whose new accounts in a week are counted, deleted or not.
`app.participating.leaving` deletes accounts.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Text, cast, or_, select, update
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import Role, User
from vocboard.app.accounts.passwords import NO_PASSWORD
from vocboard.app.audit import service as audit
from vocboard.app.audit.models import AuditEvent
from vocboard.app.database import Base, now
from vocboard.app.errors import ConflictError
from vocboard.app.forms import has_words
from vocboard.app.settings import Settings

DELETED_NAME = "Deleted account"
DELETED_DOMAIN = "deleted.invalid"  # RFC 2606: no mail ever arrives there
_NAMED = frozenset({"contributors", "name", "owner", "person", "who"})  # details of events that are names of people
_CHANGE = frozenset({"from", "to"})


def mailbox_hash(mailbox: str, *, server_key: str) -> bytes:
    """Return the keyed hash of a mailbox: without the server's secret, addresses cannot be tried."""
    return hmac.new(server_key.encode(), f"deleted mailbox {mailbox}".encode(), hashlib.sha256).digest()


def mailbox_of_domain(domain: str, *, server_key: str) -> str:
    """Return what a deleted account has in place of its mailbox: all of one registered domain have the same."""
    hashed = hmac.new(server_key.encode(), f"deleted domain {domain}".encode(), hashlib.sha256).hexdigest()
    return f"{hashed}@{DELETED_DOMAIN}"


def keys_of(settings: Settings) -> Sequence[str]:
    """Return the server's secrets by which accounts may have been deleted, the present one first."""
    return (settings.secret_key.get_secret_value(), *settings.former_keys)


def scrub(session: Session, user: User) -> None:
    """Remove everything personal from a user's row (of this transaction), which nobody can sign in to afterwards."""
    user.email = user.mailbox = f"{user.id}@{DELETED_DOMAIN}"
    user.name, user.affiliation = DELETED_NAME, ""
    user.password_hash = NO_PASSWORD
    user.role = Role.PARTICIPANT
    user.email_confirmed_at = user.approved_at = None
    user.disabled_at = now()
    session.flush()


def deleted_with(session: Session, mailbox: str, settings: Settings) -> User | None:
    """Return the deleted user who had a mailbox, locked; None if nobody had it.

    Raises:
        UnsafeSettingsError: this process does not have the key, and there are deleted users.
    """
    if session.scalar(select(User.id).where(User.mailbox_hash.is_not(None)).limit(1)) is None:
        return None
    settings.require("secret_key")
    hashes = [mailbox_hash(mailbox, server_key=key) for key in keys_of(settings)]
    deleted = select(User).where(User.mailbox_hash.in_(hashes)).order_by(User.created_at, User.id).limit(1)
    return session.scalar(deleted.with_for_update(key_share=True))


def taken_over(session: Session, user: User, settings: Settings, *, by_operator: bool = False) -> User:
    """Return the user whom a confirmed registration makes: a deleted one with the same mailbox, or `user`.

    Args:
        user: of this transaction, whose address has just been confirmed.
        by_operator: an operator makes the account. If the deleted user is banned from the server, it is disabled.

    Raises:
        ConflictError: the deleted user is banned from the server, and it is not by an operator.
        UnsafeSettingsError: as `deleted_with`.
    """
    found = deleted_with(session, user.mailbox, settings)
    if found is None:
        return user
    bans = Base.metadata.tables["bans"].c
    is_banned = session.scalar(select(bans.id).where(bans.user_id == found.id, bans.challenge_id.is_(None))) is not None
    if is_banned and not by_operator:
        raise ConflictError("This mailbox cannot have an account on this server. Write to its operators.")
    taken: dict[str, Any] = {
        name: getattr(user, name) for name in ("email", "mailbox", "name", "affiliation", "password_hash", "role")
    }
    taken |= {name: getattr(user, name) for name in ("approved_at", "terms_version", "terms_accepted_at")}
    scrub(session, user)  # first: addresses are unique
    for name, value in taken.items():
        setattr(found, name, value)
    found.mailbox_hash = None
    found.disabled_at = now() if is_banned else None
    audit.record(session, actor=found, action="user.register_again", subject=found)
    return found


def scrub_log(session: Session, user: User) -> None:
    """Replace a user's name and addresses in the details of the audit log, the only change that is made to it.

    What others have written, such as reasons, stays unless it contains the email address.
    """
    own = AuditEvent.actor_id == user.id, AuditEvent.object_id == user.id
    written = cast(AuditEvent.details, Text)
    # As JSON writes them: non-ASCII letters are escaped.
    texts = [written.contains(json.dumps(text)[1:-1], autoescape=True) for text in (user.name, user.email)]
    for event in session.scalars(select(AuditEvent).where(or_(*own, *texts))).all():
        is_own = user.id in {event.actor_id, event.object_id}
        details = {key: _without(user, value, key, is_own=is_own) for key, value in event.details.items()}
        if details != event.details:
            session.execute(update(AuditEvent).where(AuditEvent.id == event.id).values(details=details))


def _without(user: User, value: Any, key: str, *, is_own: bool) -> Any:
    """Return a value of an event's details without a user's name and addresses, in changes and lists, too."""
    if isinstance(value, dict):
        return {
            name: _without(user, one, key if name in _CHANGE else name, is_own=is_own) for name, one in value.items()
        }
    if isinstance(value, list):
        return [_without(user, one, key, is_own=is_own) for one in value]
    if not isinstance(value, str):
        return value
    is_name = key in _NAMED and (value == user.name or (is_own and has_words(value, user.name)))
    is_address = re.search(rf"(?<![\w.+-]){re.escape(user.email)}(?![.-]?\w)", value) is not None
    return DELETED_NAME if is_name or is_address or (is_own and key == "address") else value
