"""Adding, testing and removing webhooks, and reading what became of their deliveries."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.orm import Session

from vocboard.app import rate_limits
from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.database import lock_for_transaction
from vocboard.app.errors import ConflictError, NotFoundError
from vocboard.app.forms import FieldChecks
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.paging import Cursor, Page, paginate_by_time
from vocboard.app.settings import Settings
from vocboard.app.webhooks import events, signing
from vocboard.app.webhooks.models import CHOICES, Event, Webhook, WebhookDelivery
from vocboard.app.webhooks.sending import is_public

MAX_WEBHOOKS = 10  # of a person, and of a challenge
MAX_URL_LENGTH = 500
NO_WEBHOOK = "This webhook does not exist."


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose webhooks are meant: a person's own, or those of a challenge, which all of its organisers manage.

    Attributes:
        challenge_id: of one that the user organises (the caller checks); None for the person's own.
    """

    user: User
    challenge_id: uuid.UUID | None = None

    @property
    def condition(self) -> ColumnElement[bool]:
        """On webhooks: theirs."""
        if self.challenge_id is not None:
            return Webhook.challenge_id == self.challenge_id
        return and_(Webhook.user_id == self.user.id, Webhook.challenge_id.is_(None))


def webhooks_of(session: Session, owner: Owner) -> Sequence[Webhook]:
    """Return the webhooks, the oldest first."""
    return session.scalars(select(Webhook).where(owner.condition).order_by(Webhook.created_at, Webhook.id)).all()


def get(session: Session, owner: Owner, webhook_id: uuid.UUID) -> Webhook:
    """Return a webhook.

    Raises:
        NotFoundError: it is another one's.
    """
    found = session.scalars(select(Webhook).where(owner.condition, Webhook.id == webhook_id)).one_or_none()
    if found is None:
        raise NotFoundError(NO_WEBHOOK)
    return found


def add(session: Session, *, owner: Owner, url: str, chosen: Iterable[str], settings: Settings) -> tuple[Webhook, str]:
    """Add a webhook.

    Args:
        chosen: the events that it is told of.

    Returns:
        The webhook and its secret, which is stored encrypted: show it now.

    Raises:
        InvalidInputError: on `url` or `events`.
        ConflictError: there are no webhooks on this server, or as many as allowed.
    """
    if settings.key_of_webhooks is None:
        raise ConflictError("The operators of this server have not set up webhooks.")
    checks = FieldChecks()
    url = checks.line("url", url, max_length=MAX_URL_LENGTH, required=True)
    if url and (problem := _wrong(url, settings)):
        checks.fail("url", problem)
    wanted = set(chosen)
    if not wanted or not wanted <= set(CHOICES):
        checks.fail("events", f"Choose at least one of {', '.join(CHOICES)}.")
    checks.finish()
    lock_for_transaction(session, f"webhooks of {owner.challenge_id or owner.user.id}")
    if len(webhooks_of(session, owner)) >= MAX_WEBHOOKS:
        raise ConflictError(f"There are {MAX_WEBHOOKS} webhooks already, which is the limit. Remove one first.")
    secret = signing.new_secret()
    webhook = Webhook(
        user_id=owner.user.id,
        challenge_id=owner.challenge_id,
        url=url,
        events=" ".join(event for event in CHOICES if event in wanted),
        sealed_secret=signing.sealed(secret, server_key=settings.key_of_webhooks),
    )
    session.add(webhook)
    _record(session, owner.user, webhook, "webhook.add")
    return webhook, secret


def remove(session: Session, *, owner: Owner, webhook_id: uuid.UUID) -> None:
    """Remove a webhook with its deliveries. Of a challenge, another organiser may have done so: then nothing happens.

    Raises:
        NotFoundError: as `get`.
    """
    if owner.challenge_id is not None and session.get(Webhook, webhook_id) is None:
        return
    webhook = get(session, owner, webhook_id)
    _record(session, owner.user, webhook, "webhook.remove")
    session.delete(webhook)


def test(session: Session, *, owner: Owner, webhook_id: uuid.UUID) -> WebhookDelivery:
    """Send a test event. If it is delivered, a webhook that was switched off is on again, and what waits follows.

    Raises:
        NotFoundError: as `get`.
        LimitedError: too many tests.
    """
    webhook = get(session, owner, webhook_id)
    rate_limits.spend(session, {rate_limits.WEBHOOK_TESTS: str(owner.user.id)})
    events.add(session, Event.TEST, [webhook.id], {"webhook": str(webhook.id)})
    return deliveries(session, owner, webhook_id).items[0]


def deliveries(
    session: Session,
    owner: Owner,
    webhook_id: uuid.UUID,
    *,
    page: int = 1,
    per_page: int = 20,
    after: Cursor | None = None,
) -> Page[WebhookDelivery]:
    """Return the deliveries of a webhook, the newest first.

    Raises:
        NotFoundError: as `get`.
    """
    query = select(WebhookDelivery).where(WebhookDelivery.webhook_id == get(session, owner, webhook_id).id)
    keys = (WebhookDelivery.created_at, WebhookDelivery.id)
    return paginate_by_time(session, query, keys, page=page, per_page=per_page, after=after)


def next_attempts(session: Session, webhooks: Sequence[Webhook]) -> dict[uuid.UUID, datetime]:
    """Return when the next attempt of each webhook is due that has failed to deliver something."""
    pending = Job.kind == Kind.WEBHOOK, Job.finished_at.is_(None), Job.key.in_([one.id for one in webhooks])
    return {row.key: row.not_before for row in session.execute(select(Job.key, Job.not_before).where(*pending))}


def _wrong(url: str, settings: Settings) -> str:
    """Return why an address cannot be that of a webhook; empty if it can."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "This is not an address."
    if parts.scheme != "https" and not (settings.webhooks_anywhere and parts.scheme == "http"):
        return "The address has to begin with https://."
    if not host or parts.username is not None or parts.fragment or not url.isascii():
        return "Use an address of the form https://host/path, without a password."
    try:
        is_allowed = settings.webhooks_anywhere or is_public(host)
    except ValueError:
        is_allowed = host != "localhost"  # a name, whose addresses are checked before each connection
    return "" if is_allowed else "This address is not on the internet."


def _record(session: Session, user: User, webhook: Webhook, action: str) -> None:
    details = {"host": urlsplit(webhook.url).hostname, "events": webhook.events}
    audit.record(session, actor=user, action=action, subject=webhook, details=details)
