"""Identities of people at providers of OpenID Connect, and the accounts that they sign in to.

An identity is an issuer and a subject, and signs in to one account. Its email address never signs in to anything: an
account that has the address is only linked after its own password and second factor. A new account needs an address
that the provider says it has verified, or a link in an email of this server. The link works for the same identity
alone, so that nobody can confirm another person's account, or have their own confirmed by the owner of an address.

An identity replaces the password, not the second factor. Accounts that were registered with one have no password until
their owner chooses one by email.
"""

import hashlib
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app import rate_limits
from vocboard.app.accounts import links, queries, registration, removal
from vocboard.app.accounts.models import LinkedIdentity, User, mailbox
from vocboard.app.accounts.openid import AnswerRefusedError, ProvenIdentity, orcid_of
from vocboard.app.accounts.passwords import NO_PASSWORD
from vocboard.app.accounts.registration import Registration
from vocboard.app.audit import service as audit
from vocboard.app.database import add_unique, now
from vocboard.app.errors import ConflictError, LimitedError, NotFoundError, NotSignedInError
from vocboard.app.messaging import outbox
from vocboard.app.settings import OpenIdProvider, Settings

MAX_IDENTITIES = 10  # of one account


def use_answer(session: Session, state: str, *, provider: OpenIdProvider, address: str) -> None:
    """Count the answer of a provider, which is accepted once.

    Args:
        address: IP address of the client.

    Raises:
        AnswerRefusedError: it was used before.
        LimitedError: there are too many from this network.
    """
    once = {rate_limits.PROVIDER_ANSWER: hashlib.sha256(state.encode()).hexdigest()}
    network = {rate_limits.PROVIDER_ANSWERS_FROM_ADDRESS: rate_limits.network(address)}
    rate_limits.enforce(session, network)
    try:
        rate_limits.enforce(session, once)
    except LimitedError:
        raise AnswerRefusedError(provider) from None
    rate_limits.count(session, once | network)


def find(session: Session, proven: ProvenIdentity) -> LinkedIdentity | None:
    """Return the link of an identity to an account; None if there is none."""
    same = LinkedIdentity.issuer == proven.issuer, LinkedIdentity.subject == proven.subject
    return session.scalar(select(LinkedIdentity).where(*same))


def identities_of(session: Session, user: User) -> Sequence[LinkedIdentity]:
    """Return the identities that sign in to a user's account, oldest first."""
    own = select(LinkedIdentity).where(LinkedIdentity.user_id == user.id)
    return session.scalars(own.order_by(LinkedIdentity.created_at, LinkedIdentity.id)).all()


def account_of_address(session: Session, proven: ProvenIdentity) -> User | None:
    """Return the account that has the verified address of an identity, or another spelling of it; None without one."""
    if not proven.is_email_verified:
        return None
    same = queries.user_by_email(session, proven.email)
    is_taken = same is not None and same.disabled_at is not None
    return queries.confirmed_account_of_mailbox(session, mailbox(proven.email)) or (same if is_taken else None)


def link(session: Session, *, user: User, proven: ProvenIdentity, settings: Settings) -> None:
    """Let an identity sign in to the account of a user of this transaction, who is locked, and tell the user by email.

    Raises:
        ConflictError: it signs in to another account, or the account has too many.
    """
    if _add(session, user, proven):
        _tell(session, user, proven.issuer, settings, is_linked=True)
        audit.record(session, actor=user, action="user.link_identity", subject=user, details={"issuer": proven.issuer})


def _add(session: Session, user: User, proven: ProvenIdentity) -> bool:
    """Add an identity; return False if the account has it already."""
    own = identities_of(session, user)
    if any((one.issuer, one.subject) == (proven.issuer, proven.subject) for one in own):
        return False
    if len(own) >= MAX_IDENTITIES:
        raise ConflictError(f"An account can be linked {MAX_IDENTITIES} times. Unlink something first.")
    added = LinkedIdentity(user_id=user.id, issuer=proven.issuer, subject=proven.subject, last_used_at=now())
    if not add_unique(session, added):
        raise ConflictError("This signs in to another account of this server. Unlink it there first.")
    return True


def unlink(session: Session, *, user: User, identity_id: str, settings: Settings, actor: User | None = None) -> None:
    """End that an identity signs in to a user's account, and tell the user by email.

    Raises:
        NotFoundError: the user has no such identity.
        ConflictError: it is the only way into the account.
    """
    stored = queries.locked_user(session, user.id)
    if stored is None:
        raise NotSignedInError("Sign in first.")
    own = identities_of(session, stored)
    found = next((one for one in own if str(one.id) == identity_id), None)
    if found is None:
        raise NotFoundError("This is not linked to the account.")
    if len(own) == 1 and stored.password_hash == NO_PASSWORD:
        raise ConflictError("The account has no password, so this is the only way to sign in. Choose a password first.")
    session.delete(found)
    _tell(session, stored, found.issuer, settings, is_linked=False)
    details = {"issuer": found.issuer}
    audit.record(session, actor=actor, action="user.unlink_identity", subject=stored, details=details)


def show(session: Session, *, user: User, identity_id: str, is_shown: bool) -> None:
    """Show the ORCID iD of a user on the pages of their methods, beside the name of the account, or show it no longer.

    Raises:
        NotFoundError: the user has no such identity at ORCID.
    """
    found = next((one for one in identities_of(session, user) if str(one.id) == identity_id), None)
    if found is None or orcid_of(found.issuer, found.subject) is None:
        raise NotFoundError("This ORCID iD is not linked to the account.")
    if found.is_shown != is_shown:
        found.is_shown = is_shown
        action = "user.show_orcid" if is_shown else "user.hide_orcid"
        audit.record(session, actor=user, action=action, subject=user)


def _tell(session: Session, user: User, issuer: str, settings: Settings, *, is_linked: bool) -> None:
    title, site = settings.title_of(issuer), settings.public_url
    outbox.put(session, to=user.email, template="sign-in-changed", site=site, title=title, is_linked=is_linked)


def register(
    session: Session,
    new: Registration,
    proven: ProvenIdentity,
    *,
    settings: Settings,
) -> User:
    """Create an account without a password for an identity with a verified address.

    Args:
        new: with this address.

    Returns:
        The user, locked.

    Raises:
        ConflictError: an account has the address, or another spelling of it; or as `registration.confirm`.
        LimitedError: too many new accounts have addresses of this domain.
    """
    if not proven.is_email_verified or proven.email != new.email:
        raise ConflictError("Confirm the email address first.")
    if account_of_address(session, proven) is not None:
        raise ConflictError("This address has an account already. Sign in with its password to link it.")
    waiting = queries.user_by_email(session, new.email)
    if waiting is not None:  # registered, and never confirmed: nobody has used it
        links.revoke(session, waiting)
        removal.scrub(session, waiting)
    user = registration.unconfirmed_user(new, password_hash=NO_PASSWORD, policy=settings.registration_policy)
    if not add_unique(session, user):
        raise ConflictError("This address was registered at the same time. Try again.")
    audit.record(session, actor=user, action="user.register", subject=user, details={"issuer": proven.issuer})
    user = registration.confirm(session, user=user, settings=settings)
    _add(session, user, proven)
    return user
