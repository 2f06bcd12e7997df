"""Models of users, their browser sessions and their API tokens."""

import unicodedata
import uuid
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from vocboard.app.database import Base, CreatedAt, Identifier, text_enum

_MAX_ADDRESS_LENGTH = 254  # characters
# Domains of one service, in which a name is the same mailbox. The first one stands for all of them.
_SERVICES = (
    ("gmail.com", "googlemail.com"),
    ("proton.me", "pm.me", "protonmail.ch", "protonmail.com"),
    ("icloud.com", "mac.com", "me.com"),
    ("yandex.ru", "ya.ru", "yandex.by", "yandex.com", "yandex.com.tr", "yandex.kz", "yandex.ua"),
)
_SERVICE = {domain: domains[0] for domains in _SERVICES for domain in domains}
_IGNORED = {"gmail.com": ".", "proton.me": ".-_"}  # characters that do not count before the at sign
_YANDEX = "yandex.ru"  # stands for all of Yandex
_YAHOO = frozenset({"ymail.com", "rocketmail.com", "myyahoo.com"})  # and yahoo.com, yahoo.co.uk, ...
_FASTMAIL = (".fastmail.com", ".fastmail.fm")


class Role(StrEnum):
    """The role of a user on this server; organisers only see their own challenges."""

    PARTICIPANT = "participant"
    CO_ORGANISER = "co_organiser"  # organises challenges that others have created
    ORGANISER = "organiser"
    ADMINISTRATOR = "administrator"


class Scope(StrEnum):
    """The permissions of a token."""

    READ = "read"
    SUBMIT = "submit"
    ORGANISE = "organise"


def mailbox(email: str) -> str:
    """Return the mailbox that a (normalised) address counts as. It is only compared; email is sent to the address.

    - Characters that are only written differently count as the usual ones (Unicode Standard Annex 15, NFKC).
    - What follows a plus sign does not count (RFC 5233, "Subaddress Extension"; most mail servers have it so).
    - Dots do not count at Gmail (https://support.google.com/mail/answer/7436150); dots, hyphens and underscores not at
      Proton (https://proton.me/support/addresses-and-aliases).
    - What follows a hyphen does not count at Yahoo, whose names have none ("disposable addresses").
    - `anything@name.fastmail.com` is `name@fastmail.com` (https://www.fastmail.help/hc/en-us/articles/360060591053).
    - The domains of Gmail, Proton, iCloud and Yandex are other names of the same mailboxes. At Yandex, a hyphen counts
      as a dot.

    >>> mailbox("ada+second@lab.example"), mailbox("ada@lab.example"), mailbox("+@lab.example")
    ('ada@lab.example', 'ada@lab.example', '+@lab.example')
    >>> mailbox("a.d.a@googlemail.com"), mailbox("a.d.a@lab.example"), mailbox("\uff41da@lab.example")
    ('ada@gmail.com', 'a.d.a@lab.example', 'ada@lab.example')
    >>> mailbox("a.d-a@pm.me"), mailbox("ada-2@yahoo.co.uk"), mailbox("2@ada.fastmail.com"), mailbox("ada+2@me.com")
    ('ada@proton.me', 'ada@yahoo.co.uk', 'ada@fastmail.com', 'ada@icloud.com')
    >>> mailbox("a.d-a@ya.ru"), mailbox("a-d.a@yandex.com")
    ('a.d.a@yandex.ru', 'a.d.a@yandex.ru')
    """
    local, _, domain = (_folded(part) for part in email.rpartition("@"))
    for end in _FASTMAIL:
        if domain.endswith(end):
            local, domain = domain.removesuffix(end).rpartition(".")[2], end[1:]
    local = local.partition("+")[0] or local
    domain = _SERVICE.get(domain, domain)
    if domain in _YAHOO or domain.startswith("yahoo."):
        local = local.partition("-")[0] or local
    for character in _IGNORED.get(domain, ""):
        local = local.replace(character, "") or local
    if domain == _YANDEX:
        local = local.replace("-", ".")
    found = f"{local}@{domain}"
    return found if len(found) <= _MAX_ADDRESS_LENGTH else email


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())


def _mailbox_of_address(context: Any) -> str:
    return mailbox(context.get_current_parameters()["email"])


class User(Base):
    """A user account.

    Attributes:
        email: as its owner has written it, normalised and in lower case; email is sent to it.
        mailbox: see the function of this name. It is not unique: several may wait to be confirmed, of which one can be,
            and earlier versions confirmed more. A deleted account has `removal.mailbox_of_domain` instead.
    """

    __tablename__ = "users"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    email: Mapped[str] = mapped_column(String(254), unique=True)
    mailbox: Mapped[str] = mapped_column(String(254), default=_mailbox_of_address, index=True)
    name: Mapped[str] = mapped_column(String(200))
    affiliation: Mapped[str] = mapped_column(String(200), default="")
    password_hash: Mapped[str] = mapped_column(String(200))
    role: Mapped[Role] = mapped_column(text_enum(Role), default=Role.PARTICIPANT)
    disabled_at: Mapped[datetime | None]
    email_confirmed_at: Mapped[datetime | None]  # None: the email address is not confirmed
    terms_version: Mapped[str | None] = mapped_column(String(12))  # that were accepted; see `app.accounts.terms`
    terms_accepted_at: Mapped[datetime | None]
    mailbox_hash: Mapped[bytes | None] = mapped_column(LargeBinary(32), index=True)  # of a deleted account
    approved_at: Mapped[datetime | None]  # None: waiting for an organiser's approval

    @property
    def is_confirmed(self) -> bool:
        """Whether the email address is confirmed."""
        return self.email_confirmed_at is not None

    @property
    def is_approved(self) -> bool:
        """Whether the registration is approved, or needs no approval."""
        return self.approved_at is not None


class LinkPurpose(StrEnum):
    """The purpose of a link in an email."""

    CONFIRM_ADDRESS = "confirm_address"
    RESET_PASSWORD = "reset_password"  # noqa: S105  # the name of a purpose
    CHANGE_ADDRESS = "change_address"


class EmailLink(Base):
    """A single-use link that was sent by email; stored as the SHA-256 of its secret."""

    __tablename__ = "email_links"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    purpose: Mapped[LinkPurpose] = mapped_column(text_enum(LinkPurpose))
    new_email: Mapped[str | None] = mapped_column(
        String(254)
    )  # the address that it was sent to, if it is to be changed
    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    expires_at: Mapped[datetime]

    user: Mapped[User] = relationship(lazy="raise")


class SecondFactor(Base):
    """A user's second factor: an authenticator app, and recovery codes; see `app.accounts.second_factor`.

    Attributes:
        sealed_key: the app's key, encrypted.
        confirmed_at: when its first code was accepted; None while it is being set up, and not yet asked for.
        last_step: time step of the last code that was accepted.
        recovery_hashes: SHA-256, in hexadecimal, of the recovery codes that have not been used.
    """

    __tablename__ = "second_factors"

    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    created_at: Mapped[CreatedAt]
    sealed_key: Mapped[bytes] = mapped_column(LargeBinary)
    confirmed_at: Mapped[datetime | None]
    last_step: Mapped[int | None] = mapped_column(BigInteger)
    recovery_hashes: Mapped[list[str]] = mapped_column(JSON)


class SecurityKey(Base):
    """A security key or passkey, which stands for a code of the second factor; see `app.accounts.security_keys`.

    Attributes:
        sign_count: how often the key says that it was used; a copy of a key would count apart.
    """

    __tablename__ = "security_keys"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    label: Mapped[str] = mapped_column(String(100))
    credential_id: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    public_key: Mapped[bytes] = mapped_column(LargeBinary)
    sign_count: Mapped[int] = mapped_column(BigInteger)
    last_used_at: Mapped[datetime | None]


class LinkedIdentity(Base):
    """A person at a provider of OpenID Connect, who may sign in to an account; see `app.accounts.identities`."""

    __tablename__ = "identities"
    __table_args__ = (UniqueConstraint("issuer", "subject"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    issuer: Mapped[str] = mapped_column(String(255))
    subject: Mapped[str] = mapped_column(String(255))  # by which the provider knows the person, for ever
    last_used_at: Mapped[datetime | None]
    is_shown: Mapped[bool] = mapped_column(default=False)  # an ORCID iD, on the pages of the person's methods


class WebSession(Base):
    """A signed-in browser. The cookie has a random token, the row its SHA-256."""

    __tablename__ = "sessions"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    expires_at: Mapped[datetime]
    last_used_at: Mapped[datetime]
    browser: Mapped[str] = mapped_column(String(200), default="")  # user agent, for the list of sessions

    user: Mapped[User] = relationship(lazy="raise")


class ApiToken(Base):
    """A bearer token. It is shown once; the row has its SHA-256."""

    __tablename__ = "api_tokens"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    label: Mapped[str] = mapped_column(String(100))
    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    scopes: Mapped[str] = mapped_column(String(60))  # space-separated `Scope` values
    expires_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]

    @property
    def granted(self) -> frozenset[Scope]:
        """The scopes as a set."""
        return frozenset(map(Scope, self.scopes.split()))

    user: Mapped[User] = relationship(lazy="raise")


class KeptAnswer(Base):
    """The answer to a request with an idempotency key; see `app.web.idempotency`.

    Attributes:
        answer: with the hash of the request, encrypted for those who know the key; None while it is in progress.
    """

    __tablename__ = "kept_answers"
    __table_args__ = (Index("ix_kept_answers_user_id", "user_id", "created_at"),)

    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    key_sha256: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    created_at: Mapped[CreatedAt] = mapped_column(index=True)
    answer: Mapped[bytes | None] = mapped_column(LargeBinary)
