"""Links in emails: random, stored as hashes, single-use, and valid for a limited time."""

from datetime import timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session, joinedload

from vocboard.app.accounts.models import EmailLink, LinkPurpose, User
from vocboard.app.accounts.secret_tokens import digest, new_secret
from vocboard.app.database import now
from vocboard.app.errors import NotFoundError
from vocboard.app.messaging import outbox

# How long the links are valid, the template of their email, and the page that they open.
_KINDS = {
    LinkPurpose.CONFIRM_ADDRESS: (timedelta(days=3), "confirm-address", "confirm"),
    LinkPurpose.RESET_PASSWORD: (timedelta(hours=2), "reset-password", "reset-password"),
    LinkPurpose.CHANGE_ADDRESS: (timedelta(hours=24), "change-address", "account/address"),
}


class InvalidLinkError(NotFoundError):
    """The link is unknown, was used, or has expired; the error does not say which."""

    code, title = "invalid_link", "The link is not valid"

    def __init__(self) -> None:
        super().__init__("This link has expired or has already been used. Ask for a new email and use the newest link.")


def create(session: Session, *, user: User, purpose: LinkPurpose, new_email: str | None = None) -> str:
    """Create a link for a user of this transaction, and return its secret. Earlier links stay valid.

    So a person who requests a second email can use either link.

    Args:
        new_email: the address that it is sent to, if it is not the user's.
    """
    instant = now()
    lifetime, *_ = _KINDS[purpose]
    session.execute(delete(EmailLink).where(EmailLink.user_id == user.id, EmailLink.expires_at <= instant))
    secret = new_secret()
    session.add(
        EmailLink(
            user_id=user.id,
            purpose=purpose,
            new_email=new_email,
            token_hash=digest(secret),
            expires_at=instant + lifetime,
        )
    )
    session.flush()
    return secret


def send(session: Session, *, user: User, purpose: LinkPurpose, site: str, new_email: str | None = None) -> None:
    """Create a link as `create` does, and send it to the user or, if there is one, to the new address.

    Args:
        site: the public URL.
    """
    lifetime, template, page = _KINDS[purpose]
    secret = create(session, user=user, purpose=purpose, new_email=new_email)
    outbox.put(
        session,
        to=new_email or user.email,
        template=template,
        lifetime=lifetime,
        site=site,
        link=f"{site}/{page}?token={secret}",
        hours=int(lifetime.total_seconds() // 3600),
    )


def revoke(session: Session, user: User) -> None:
    """End all of a person's links."""
    session.execute(delete(EmailLink).where(EmailLink.user_id == user.id))


def owner(session: Session, secret: str, purpose: LinkPurpose) -> User:
    """Return the user whom a link was sent to, without using it.

    Raises:
        InvalidLinkError: the link is not valid, or the account is disabled.
    """
    return _valid(session, secret, purpose).user


def new_address(session: Session, secret: str, user: User) -> str:
    """Return the address that a link of this user was sent to, to make it the user's; the link is not used.

    Raises:
        InvalidLinkError: the link is not valid, or belongs to another user.
    """
    found = _valid(session, secret, LinkPurpose.CHANGE_ADDRESS)
    if found.user_id != user.id or found.new_email is None:
        raise InvalidLinkError
    return found.new_email


def _valid(session: Session, secret: str, purpose: LinkPurpose) -> EmailLink:
    found = session.scalar(
        select(EmailLink)
        .join(EmailLink.user)
        .options(joinedload(EmailLink.user))
        .where(
            EmailLink.token_hash == digest(secret),
            EmailLink.purpose == purpose,
            EmailLink.expires_at > now(),
            User.disabled_at.is_(None),
        )
    )
    if found is None:
        raise InvalidLinkError
    return found


def use(session: Session, secret: str, purpose: LinkPurpose) -> User:
    """Use a link: return the user whom it was sent to, locked, and delete all links of the user.

    Raises:
        InvalidLinkError: as for `owner`; also if another request has just used it.
    """
    user_id = owner(session, secret, purpose).id
    user = session.scalar(
        select(User).where(User.id == user_id).with_for_update().execution_options(populate_existing=True)
    )
    owner(session, secret, purpose)  # check again, now that the user is locked
    if user is None:
        raise InvalidLinkError
    revoke(session, user)
    return user
