"""Administration of accounts, for administrators and the command line. Without uniform responses.

An administrator (`actor`) can neither lose the own role or account by accident, nor take the last one from the server.
Operators at the command line can, for example if the only administrator's account was stolen.
"""

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from vocboard.app import rate_limits
from vocboard.app.accounts import links, queries, removal
from vocboard.app.accounts.models import LinkPurpose, Role, User, WebSession, mailbox
from vocboard.app.accounts.password_changes import revoke_tokens, set_hash
from vocboard.app.accounts.people import normalised_email
from vocboard.app.audit import service as audit
from vocboard.app.database import Base, lock_for_transaction, now
from vocboard.app.errors import ConflictError, NotFoundError
from vocboard.app.messaging import outbox
from vocboard.app.settings import Settings


def create_user(session: Session, *, person: User, settings: Settings | None = None, actor: User | None = None) -> User:
    """Add a user created by `new_user` before the transaction.

    Args:
        settings: to go on from a deleted account of the same mailbox; None not to look for one.

    Returns:
        The user whose account it is.

    Raises:
        ConflictError: the email address or another spelling of it already has an account.
    """
    if person.is_confirmed:
        _require_only_account(session, person.email)
    email, confirmed_at, owner = person.email, person.email_confirmed_at, person
    try:
        with session.begin_nested():
            if settings is not None:
                person.mailbox = mailbox(email)  # otherwise only set when it is added, and web deletes no users
                owner = removal.taken_over(session, person, settings, by_operator=True)
            owner.email_confirmed_at = confirmed_at
            session.add(owner)
    except IntegrityError as error:
        raise ConflictError(f"{email} already has an account.") from error
    audit.record(session, actor=actor, action="user.create", subject=owner, details={"role": owner.role.value})
    return owner


def get_user(session: Session, email: str) -> User:
    """Return the user with this address.

    Raises:
        NotFoundError: there is no such user.
    """
    normalised = normalised_email(email)
    user = queries.user_by_email(session, normalised) if normalised else None
    if user is None:
        raise NotFoundError(f"No account has the email address {email!r}.")
    return user


def list_users(session: Session) -> Sequence[User]:
    """Return all users, ordered by email address."""
    return queries.users(session)


def set_role(session: Session, *, user: User, role: Role, actor: User | None = None) -> None:
    """Change the role of a user (of this transaction), whose webhooks of challenges end with the right to organise.

    Raises:
        ConflictError: the email address is not confirmed, so it may belong to another person; or as `disable`.
    """
    if role is not Role.ADMINISTRATOR:
        require_other(session, user, actor)
    if not user.is_confirmed:
        raise ConflictError(
            f"{user.email} is not confirmed yet. Wait until its owner has opened the link in the email, "
            "or confirm it with `vocboard admin confirm-user`."
        )
    before, user.role = user.role, role
    if role is not Role.ADMINISTRATOR:
        _remove_webhooks(session, user)
    details = {"from": before.value, "to": role.value}
    audit.record(session, actor=actor, action="user.set_role", subject=user, details=details)


def _remove_webhooks(session: Session, user: User) -> None:
    """Remove a user's webhooks of challenges that the user does not organise in the present role."""
    webhooks, organisers = (Base.metadata.tables[name] for name in ("webhooks", "challenge_organisers"))
    organised = select(organisers.c.challenge_id).where(organisers.c.user_id == user.id)
    own = delete(webhooks).where(webhooks.c.user_id == user.id, webhooks.c.challenge_id.is_not(None))
    session.execute(own if user.role is Role.PARTICIPANT else own.where(webhooks.c.challenge_id.not_in(organised)))


def confirm(session: Session, *, user: User, settings: Settings | None = None, actor: User | None = None) -> None:
    """Confirm the address of a user (of this transaction) whose ownership was verified by other means.

    Args:
        settings: as for `create_user`.

    Raises:
        ConflictError: another spelling of the address has an account.
    """
    if not user.is_confirmed:
        _require_only_account(session, user.email)
        if settings is not None:
            user = removal.taken_over(session, user, settings, by_operator=True)
        user.email_confirmed_at = now()
        audit.record(session, actor=actor, action="user.confirm", subject=user)


def approve(session: Session, *, user: User, site: str, actor: User | None = None) -> None:
    """Approve the registration of a user (of this transaction), and notify them by email.

    Raises:
        ConflictError: the address is not confirmed yet, or the account was disabled.
    """
    _require_waiting(user)
    if not user.is_approved:
        user.approved_at = now()
        outbox.put(session, to=user.email, template="approved", site=site)
        audit.record(session, actor=actor, action="user.approve", subject=user)


def reject(session: Session, *, user: User, site: str, actor: User | None = None) -> None:
    """Reject the registration of a user (of this transaction): disable the account, and notify them by email.

    Raises:
        ConflictError: the address is not confirmed yet, or the registration was already approved or rejected.
    """
    _require_waiting(user)
    if user.is_approved:
        raise ConflictError(f"{user.email} is already approved. Disable the account instead.")
    outbox.put(session, to=user.email, template="rejected", site=site)
    audit.record(session, actor=actor, action="user.reject", subject=user)
    disable(session, user=user, actor=actor)


def _require_only_account(session: Session, email: str) -> None:
    """Check that no other spelling of an address (see `models.mailbox`) has a confirmed account."""
    lock_for_transaction(session, f"mailbox {mailbox(email)}")  # as `registration.confirm`
    found = queries.confirmed_account_of_mailbox(session, mailbox(email))
    if found is not None and found.email != email:
        raise ConflictError(f"The mailbox of {email} already has an account, with the address {found.email}.")


def _require_waiting(user: User) -> None:
    if not user.is_confirmed:
        raise ConflictError(f"{user.email} is not confirmed yet.")
    if user.disabled_at is not None:
        raise ConflictError(f"The account of {user.email} is disabled.")


def disable(session: Session, *, user: User, actor: User | None = None) -> None:
    """Disable a user (of this transaction), and end all sessions, tokens, email links and event streams.

    Raises:
        ConflictError: the actor is the user, or the user is the only administrator.
    """
    require_other(session, user, actor)
    user.disabled_at = now()
    _end_sessions(session, user)
    audit.record(session, actor=actor, action="user.disable", subject=user)


def enable(session: Session, *, user: User, actor: User | None = None) -> None:
    """Enable a disabled user (of this transaction). Ended sessions and tokens are not restored."""
    user.disabled_at = None
    audit.record(session, actor=actor, action="user.enable", subject=user)


def end_sessions(session: Session, *, user: User, actor: User | None = None) -> None:
    """End all sessions, tokens, email links and event streams of a user (of this transaction)."""
    _end_sessions(session, user)
    audit.record(session, actor=actor, action="user.end_sessions", subject=user)


def resend_confirmation(session: Session, *, user: User, site: str, actor: User | None = None) -> None:
    """Send a user (of this transaction) another link that confirms the email address.

    Raises:
        ConflictError: the address is confirmed, or the account is disabled.
        LimitedError: too many emails to this mailbox.
    """
    if user.is_confirmed:
        raise ConflictError(f"{user.email} is already confirmed.")
    if user.disabled_at is not None:
        raise ConflictError(f"The account of {user.email} is disabled.")
    rate_limits.spend(session, {rate_limits.REGISTRATION_OF_ACCOUNT: user.mailbox})
    links.send(session, user=user, purpose=LinkPurpose.CONFIRM_ADDRESS, site=site)
    audit.record(session, actor=actor, action="user.resend_confirmation", subject=user)


def require_another_administrator(session: Session, user: User) -> None:
    """Check that the server has an administrator besides a user, who may be one.

    Raises:
        ConflictError: the user is the only one.
    """
    if user.role is not Role.ADMINISTRATOR:
        return
    lock_for_transaction(session, "administrators")  # else two could disable each other
    if {one.id for one in queries.active_with_role(session, Role.ADMINISTRATOR, limit=2)} <= {user.id}:
        raise ConflictError(
            f"{user.email} is the only administrator of this server. Make somebody else an administrator first."
        )


def require_other(session: Session, user: User, actor: User | None) -> None:
    """Check that an administrator may take something from a user.

    Raises:
        ConflictError: the actor is the user, or the user is the only administrator.
    """
    if actor is None:
        return
    if actor.id == user.id:
        raise ConflictError("You cannot do this to your own account. Ask another administrator.")
    require_another_administrator(session, user)


def _end_sessions(session: Session, user: User) -> None:
    session.execute(delete(WebSession).where(WebSession.user_id == user.id))
    revoke_tokens(session, user)
    links.revoke(session, user)


def reset_password(session: Session, *, user: User, password_hash: str, actor: User | None = None) -> None:
    """Set the password of a user (of this transaction), and end all sessions and tokens."""
    set_hash(session, user=user, password_hash=password_hash, keep=None)
    audit.record(session, actor=actor, action="user.reset_password", subject=user)
