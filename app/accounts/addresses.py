"""Another email address for an account: requested with the password, confirmed by a link that is sent to it.

A mailbox has one account that counts (see `registration`). That the new one has an account is only said to its owner:
the response is the same, and each request sends one email. The link has no effect without a session of the account.

What organisers have granted or forbidden to the old address follows the person: admissions, extra quota, invitations
and imported bans. So another address neither loses nor escapes anything.
"""

from typing import Any

from sqlalchemy import Table, delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from vocboard.app.accounts import links, queries, registration, removal
from vocboard.app.accounts.models import LinkPurpose, User, WebSession, mailbox
from vocboard.app.accounts.own_data import COLUMNS
from vocboard.app.accounts.people import checked_email
from vocboard.app.accounts.privacy import EMAIL
from vocboard.app.audit import service as audit
from vocboard.app.database import Base, lock_for_transaction
from vocboard.app.errors import ConflictError
from vocboard.app.forms import FieldChecks
from vocboard.app.messaging import outbox
from vocboard.app.settings import RegistrationPolicy, Settings


def checked(user: User, email: str, policy: RegistrationPolicy) -> str:
    """Return the canonical form of a new address of a user.

    Raises:
        InvalidInputError: for `email`: not an address, not of a domain that may register, or the present one.
    """
    checks = FieldChecks()
    found = checked_email(checks, email)
    if found == user.email:
        checks.fail("email", "This is your present address.")
    elif not policy.accepts(found):  # of an invalid address, only the first error is kept
        checks.fail("email", f"Use an address of {' or '.join(policy.domains)}.")
    checks.finish()
    return found


def request(session: Session, *, user: User, email: str, address: str, site: str) -> None:
    """Send a link to a new address (see `checked`), or tell the owner of its account about the request.

    Args:
        address: IP address of the client.
        site: the public URL, for the link.

    Raises:
        LimitedError: too many requests from there, or for this mailbox.
    """
    registration.count_attempt(session, email=email, address=address)
    other = queries.confirmed_account_of_mailbox(session, mailbox(email))
    if other is not None and other.id != user.id:
        outbox.put(session, to=other.email, template="address-taken", site=site, typed=email)
        return
    links.send(session, user=user, purpose=LinkPurpose.CHANGE_ADDRESS, site=site, new_email=email)


def confirm(session: Session, *, user: User, secret: str, keep: WebSession | None, settings: Settings) -> None:
    """Change the address of a signed-in user to the one that a link was sent to, and tell the old address.

    Args:
        keep: the session to keep.

    Raises:
        InvalidLinkError: the link is not valid, or belongs to another account.
        ConflictError: as `change`.
        LimitedError: too many new accounts have addresses of its domain, which is another one than before.
    """
    email = links.new_address(session, secret, user)
    stored = links.use(session, secret, LinkPurpose.CHANGE_ADDRESS)
    _lock(session, email)
    if registration.registered_domain(email) != registration.registered_domain(stored.email):
        registration.check_room(session, email, settings)
    change(session, user=stored, email=email, settings=settings, actor=stored, keep=keep)


def change(
    session: Session,
    *,
    user: User,
    email: str,
    settings: Settings,
    actor: User | None = None,
    keep: WebSession | None = None,
) -> None:
    """Change the address of a user (of this transaction) to a normalised one that the person receives email at.

    All links and sessions of the account end: they may have been obtained with the old mailbox.

    Args:
        keep: a session to keep.

    Raises:
        ConflictError: another account has the address, or another spelling of it, or a deleted one had.
        UnsafeSettingsError: as `removal.deleted_with`.
    """
    _lock(session, email)
    other = queries.confirmed_account_of_mailbox(session, mailbox(email))
    if other is not None and other.id != user.id:
        raise ConflictError("This mailbox has an account already, perhaps with another spelling of the address.")
    waiting = queries.user_by_email(session, email)
    if waiting is not None and waiting.id != user.id:  # registered, and never confirmed: nobody has used it
        links.revoke(session, waiting)
        removal.scrub(session, waiting)
    old = user.email
    _follow(session, user, email)
    user.email, user.mailbox = email, mailbox(email)
    links.revoke(session, user)
    ended = delete(WebSession).where(WebSession.user_id == user.id)
    session.execute(ended.where(WebSession.id != keep.id) if keep else ended)
    session.flush()
    outbox.put(session, to=old, template="address-changed", site=settings.public_url)
    audit.record(session, actor=actor, action="user.change_address", subject=user)
    # Last: it finds an account that is being deleted at the same time.
    if removal.deleted_with(session, user.mailbox, settings) is not None:
        raise ConflictError(
            "An account with this mailbox was deleted. Its quota and bans are for a new registration with it, so "
            "no other account can have it. Use another address."
        )


def _follow(session: Session, user: User, email: str) -> None:
    """Let what organisers have stored for the old address apply to the new one."""
    tables: dict[str, Table] = dict(Base.metadata.tables)
    for table in (tables[name] for name, column in COLUMNS.items() if column == EMAIL):
        for row_id in session.scalars(select(table.c.id).where(table.c[EMAIL] == user.email)).all():
            this = table.c.id == row_id
            try:
                with session.begin_nested():
                    session.execute(update(table).where(this).values({EMAIL: email}))
            except IntegrityError:  # the new address has the same already
                session.execute(delete(table).where(this))
    keep_imported_bans(session, user)


def keep_imported_bans(session: Session, user: User) -> None:
    """Let bans that were imported for the address of a user (of this transaction) hold for the account."""
    bans = Base.metadata.tables["bans"]
    banned: dict[Any, Any] = {
        row.challenge_id: row.reason
        for row in session.execute(select(bans).where(bans.c.email.is_not(None)))
        if mailbox(row.email) == user.mailbox
    }
    own = set(session.scalars(select(bans.c.challenge_id).where(bans.c.user_id == user.id)))
    for challenge_id in banned.keys() - own:
        session.execute(insert(bans).values(user_id=user.id, challenge_id=challenge_id, reason=banned[challenge_id]))


def _lock(session: Session, email: str) -> None:
    """Let only one transaction at a time give somebody this mailbox, or a place of its domain."""
    lock_for_transaction(session, f"domain {registration.registered_domain(email)}", f"mailbox {mailbox(email)}")
