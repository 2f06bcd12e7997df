"""Registration. An account is usable once its email address is confirmed and, if required, it is approved.

Responses do not reveal whether an address has an account; only the email to it does. So an unconfirmed account
cannot be signed in to: otherwise, signing in with the password just chosen would reveal whether the registration had
created an account. The link in the email also requires that password: if another person registers the address, its
owner cannot confirm the account by opening the link.

A mailbox has one account that counts, however its address is written (`models.mailbox`): `ada+2@lab.example` does not
get another quota. That it has one is only said to the address of the account: another spelling may be the address of
another person after all.

The owner of an email domain has any number of mailboxes in it, so the accounts of one domain are limited. Only
confirmed addresses count, so that a domain's accounts cannot be used up without receiving its email.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from vocboard.app import rate_limits
from vocboard.app.accounts import links, queries, removal
from vocboard.app.accounts.models import LinkPurpose, Role, User, mailbox
from vocboard.app.accounts.people import checked_person
from vocboard.app.accounts.terms import Terms
from vocboard.app.audit import service as audit
from vocboard.app.database import add_unique, lock_for_transaction, now
from vocboard.app.errors import ConflictError, ForbiddenError, LimitedError, NotFoundError
from vocboard.app.forms import FieldChecks
from vocboard.app.messaging import outbox
from vocboard.app.paging import PER_PAGE, Page, paginate
from vocboard.app.rate_limits import Limit
from vocboard.app.settings import RegistrationPolicy, Settings

MAX_NOTIFIED = 20  # administrators who are notified of a pending registration
DOMAIN_PERIOD = timedelta(days=7)  # in which the new accounts of an email domain are counted
_SECOND_LEVEL = frozenset(
    {"ac", "asn", "co", "com", "ed", "edu", "go", "gob", "gouv", "gov", "net", "or", "org", "uni"}
)
# Anyone can have a mailbox there, and few people can have many at the same time.
_LARGE = """
    126.com 139.com 163.com aliyun.com aol.com bluewin.ch daum.net fastmail.com fastmail.fm foxmail.com free.fr
    gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net googlemail.com hanmail.net hey.com hotmail.co.uk hotmail.com
    hotmail.de hotmail.es hotmail.fr hotmail.it icloud.com laposte.net libero.it live.co.uk live.com live.fr
    mac.com mail.com mail.ru mailbox.org me.com msn.com naver.com orange.fr outlook.com outlook.de outlook.es
    outlook.fr outlook.it outlook.jp pm.me posteo.de proton.me protonmail.ch protonmail.com qq.com rediffmail.com
    seznam.cz sina.com sohu.com t-online.de tuta.com tuta.io tutanota.com tutanota.de vip.qq.com web.de wp.pl ya.ru
    yahoo.ca yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com yahoo.com.au yahoo.com.br yahoo.com.cn yahoo.de yahoo.es
    yahoo.fr yahoo.in yahoo.it yandex.com yandex.ru yeah.net ymail.com zoho.com
"""
LARGE_PROVIDERS = frozenset(_LARGE.split())


@dataclass(frozen=True, slots=True)
class Registration:
    """The validated form of a new user.

    Attributes:
        terms_version: of the terms that were accepted; None if there are none.
    """

    email: str
    name: str
    affiliation: str
    terms_version: str | None = None


class NotConfirmedError(ForbiddenError):
    """The user has not confirmed the email address."""

    code, title = "address_not_confirmed", "Confirm your email address first"


class NotApprovedError(ForbiddenError):
    """The registration is waiting for an organiser's approval."""

    code, title = "not_approved", "Your account is not approved yet"


def require_confirmed(user: User) -> None:
    """Check that a user may submit, before an upload begins.

    Raises:
        NotConfirmedError: the email address is not confirmed.
        NotApprovedError: the registration is not approved.
    """
    if not user.is_confirmed:
        raise NotConfirmedError(
            "Confirm your email address before you submit: open the link in the email that we sent you. "
            "To get another email, go to /forgotten-password."
        )
    if not user.is_approved:
        raise NotApprovedError("Administrators have to approve your account before you submit. You will get an email.")


def check(
    *,
    email: str,
    name: str,
    affiliation: str,
    password: str | None,
    policy: RegistrationPolicy,
    terms: Terms | None = None,
    accepted: str = "",
) -> Registration:
    """Validate the form.

    Args:
        password: None for an account without one.
        terms: those of the server.
        accepted: version of the terms that the person has accepted.

    Raises:
        ForbiddenError: registration is closed.
        InvalidInputError: for `email`, `name`, `affiliation`, `password`, `terms`.
    """
    if not policy.is_open:
        raise ForbiddenError("You cannot register on this server. Ask its operators for an account.")
    checks = FieldChecks()
    person = checked_person(checks, email=email, name=name, affiliation=affiliation, password=password)
    if not policy.accepts(person["email"]):  # of an invalid address, only the first error is kept
        checks.fail("email", f"Use an address of {' or '.join(policy.domains)}.")
    if terms is not None and accepted != terms.version:
        checks.fail("terms", "Accept the terms." if not accepted else "The terms have changed. Read and accept them.")
    checks.finish()
    return Registration(**person, terms_version=terms.version if terms else None)


def count_attempt(
    session: Session, *, email: str, address: str, of_account: Limit = rate_limits.REGISTRATION_OF_ACCOUNT
) -> None:
    """Count a registration, or a request for another email, against the rate limits.

    Args:
        email: normalised.
        address: IP address of the client.
        of_account: the limit on messages to one mailbox.

    Raises:
        LimitedError: too many from this address or for this email address.
    """
    subjects = {
        of_account: mailbox(email),
        rate_limits.REGISTRATION_FROM_ADDRESS: rate_limits.network(address),
    }
    rate_limits.spend(session, subjects)


def register(
    session: Session, registration: Registration, *, password_hash: str, policy: RegistrationPolicy, site: str
) -> None:
    """Create a participant's account and send a confirmation link. If the account exists, only say so by email.

    Args:
        site: the public URL, for the links.
    """
    user = queries.user_by_email(session, registration.email)
    counting = queries.confirmed_account_of_mailbox(session, mailbox(registration.email))
    if counting is not None:
        outbox.put(session, to=counting.email, template="registered-already", site=site, typed=registration.email)
    elif user is None:
        user = unconfirmed_user(registration, password_hash=password_hash, policy=policy)
        if not add_unique(session, user):  # the same address was registered at the same time
            return
        audit.record(session, actor=user, action="user.register", subject=user)
        links.send(session, user=user, purpose=LinkPurpose.CONFIRM_ADDRESS, site=site)
    elif user.disabled_at is None:
        links.send(session, user=user, purpose=LinkPurpose.CONFIRM_ADDRESS, site=site)


def unconfirmed_user(registration: Registration, *, password_hash: str, policy: RegistrationPolicy) -> User:
    """Return a new user, who is not in the database yet."""
    return User(
        email=registration.email,
        name=registration.name,
        affiliation=registration.affiliation,
        password_hash=password_hash,
        role=Role.PARTICIPANT,
        approved_at=None if policy.needs_approval else now(),
        terms_version=registration.terms_version,
        terms_accepted_at=now() if registration.terms_version else None,
    )


def send_reset_link(session: Session, *, email: str, site: str) -> None:
    """Send a link to choose a new password, if the address (normalised) has an account.

    The link also confirms the address, so it helps if the first email or the password was lost.
    """
    user = queries.user_by_email(session, email)
    if user is not None and user.disabled_at is None:
        links.send(session, user=user, purpose=LinkPurpose.RESET_PASSWORD, site=site)


def confirm(session: Session, *, user: User, settings: Settings) -> User:
    """Confirm the address of a user of this transaction; if registrations need approval, request it.

    The caller has verified that the user receives the address's email.

    Returns:
        The user whose account it is: that of a deleted account of the same mailbox, which it goes on from.

    Raises:
        ConflictError: another address of the same mailbox has an account, or one that was banned and then deleted.
        LimitedError: too many new accounts have addresses of this domain.
    """
    if user.is_confirmed:
        return user
    # Other addresses of the domain, or of the mailbox, may be confirmed at the same time.
    lock_for_transaction(session, f"domain {registered_domain(user.email)}", f"mailbox {user.mailbox}")
    if queries.confirmed_account_of_mailbox(session, user.mailbox) is not None:
        raise ConflictError(
            "Your mailbox has an account already, with another spelling of this address. Sign in with that one."
        )
    check_room(session, user.email, settings)
    user = removal.taken_over(session, user, settings)
    user.email_confirmed_at = now()
    audit.record(session, actor=user, action="user.confirm_address", subject=user)
    if not user.is_approved:
        for administrator in approvers(session):
            outbox.put(
                session,
                to=administrator.email,
                template="approval-wanted",
                name=user.name,
                affiliation=user.affiliation,
                email=user.email,
                link=f"{settings.public_url}/organise/registrations",
            )
    return user


def approvers(session: Session) -> Sequence[User]:
    """Return the approvers of registrations: administrators and, on a server with a single organiser, the organiser."""
    found = queries.active_with_role(session, Role.ADMINISTRATOR, limit=MAX_NOTIFIED)
    organisers = queries.active_with_role(session, Role.ORGANISER, limit=2)
    return [*found, *organisers] if len(organisers) == 1 else found


def may_approve(session: Session, user: User) -> bool:
    """Whether a user sees and approves registrations."""
    return user.role is Role.ADMINISTRATOR or user.id in {one.id for one in approvers(session)}


def _require_approver(session: Session, user: User) -> None:
    if not may_approve(session, user):
        raise ForbiddenError(
            "This server has several organisers, so only its administrators see and approve registrations. Ask them."
        )


def waiting(session: Session, viewer: User, *, page: int = 1, per_page: int = PER_PAGE) -> Page[User]:
    """Return users with confirmed addresses who are waiting for approval, oldest first.

    Raises:
        ForbiddenError: the viewer does not approve registrations.
    """
    _require_approver(session, viewer)
    waiting = User.approved_at.is_(None), User.email_confirmed_at.is_not(None), User.disabled_at.is_(None)
    query = select(User).where(*waiting).order_by(User.email_confirmed_at, User.id)
    return paginate(session, query, page=page, per_page=per_page)


def registered(session: Session, user_id: uuid.UUID, approver: User) -> User:
    """Return a user whose registration is waiting for approval, locked.

    Raises:
        ForbiddenError: the approver does not approve registrations.
        NotFoundError: there is no registration with this id.
        ConflictError: it is not waiting for approval.
    """
    _require_approver(session, approver)
    user = queries.locked_user(session, user_id)
    if user is None or not user.is_confirmed:
        raise NotFoundError("This registration does not exist.")
    if user.is_approved or user.disabled_at is not None:
        raise ConflictError("This registration has already been approved or rejected.")
    return user


def registered_domain(email: str) -> str:
    """Return the registered domain of an address, without its subdomains.

    Without a list of public suffixes: `ac.uk`, `edu.cn` and the like are known by their second level.

    >>> registered_domain("ada@cs.lab.example"), registered_domain("ada@mail.cs.uni.ac.uk")
    ('lab.example', 'uni.ac.uk')
    """
    labels = email.rpartition("@")[2].lower().rstrip(".").split(".")
    is_deeper = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL
    return ".".join(labels[-3:] if is_deeper else labels[-2:])


def check_room(session: Session, email: str, settings: Settings) -> None:
    """Check that another account of an address's domain may be confirmed. Deleted accounts count, too.

    Large mail providers, the domains that the operators have named, and accounts that need an approval are not limited.

    Raises:
        LimitedError: as many as may be were confirmed in the last days.
    """
    domain, policy = registered_domain(email), settings.registration_policy
    if (
        not policy.accounts_per_domain
        or policy.needs_approval
        or policy.domains
        or {domain, email.rpartition("@")[2]} & LARGE_PROVIDERS
    ):
        return
    deleted = User.mailbox.in_([removal.mailbox_of_domain(domain, server_key=key) for key in removal.keys_of(settings)])
    recent = select(User.email, User.email_confirmed_at, deleted.label("is_deleted")).where(
        User.email_confirmed_at > now() - DOMAIN_PERIOD,
        or_(func.lower(User.email).endswith(domain, autoescape=True), deleted),
    )
    found = [
        row.email_confirmed_at
        for row in session.execute(recent)
        if row.is_deleted or registered_domain(row.email) == domain
    ]
    if len(found) < policy.accounts_per_domain:
        return
    allowed_at = sorted(found)[-policy.accounts_per_domain] + DOMAIN_PERIOD
    raise LimitedError(
        f"{policy.accounts_per_domain} accounts with addresses of {domain} were confirmed in the last "
        f"{DOMAIN_PERIOD.days} days, and no more may be. Try again after {allowed_at:%Y-%m-%d %H:%M} UTC, or ask the "
        "operators of this server.",
        allowed_at=allowed_at,
    )
