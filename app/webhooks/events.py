"""Adds what happens to the deliveries of webhooks, in the transaction of the event.

What is sent has names and ids alone. Scores are read over the API, by a token: what its person may see can change.
"""

import json
import uuid
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import bindparam, insert, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from vocboard.app.database import now
from vocboard.app.webhooks.models import Event, Webhook, WebhookDelivery

# Built once: workers execute it with each result.
_ACTIVE_WEBHOOKS = select(Webhook.id, Webhook.user_id, Webhook.challenge_id, Webhook.events).where(
    or_(Webhook.challenge_id.is_(None), Webhook.challenge_id == bindparam("challenge_id")),
    Webhook.off_because.is_(None),
)


def emit(
    session: Session,
    event: Event,
    happened: Iterable[tuple[Collection[uuid.UUID], Mapping[str, Any]]],
    *,
    challenge_id: uuid.UUID,
) -> None:
    """Tell the webhooks of people, and those of a challenge, what has happened there. Any process may call this.

    Args:
        happened: each with the people whose own webhooks are told, and what is sent, in JSON's types. Each receiver may
            see it by the API.
    """
    active = session.execute(_ACTIVE_WEBHOOKS, {"challenge_id": challenge_id})
    found = [row for row in active if event in row.events.split()]
    if not found:
        return
    for user_ids, content in happened:
        people = frozenset(user_ids)
        told = [row.id for row in found if row.challenge_id is not None or row.user_id in people]
        add(session, event, told, content)


def add(session: Session, event: Event, webhook_ids: Collection[uuid.UUID], content: Mapping[str, Any]) -> None:
    """Add a delivery for each webhook; the sweep of email adds their jobs."""
    if not webhook_ids:
        return
    instant = now()
    body = {"type": event, "timestamp": instant.isoformat().replace("+00:00", "Z"), "data": content}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    rows = [
        {"id": uuid.uuid4(), "created_at": instant, "webhook_id": webhook_id, "event": event, "content": text}
        for webhook_id in webhook_ids
    ]
    session.flush()  # so that an error in another row is not reported as one of these
    while rows:
        try:
            with session.begin_nested():
                session.execute(insert(WebhookDelivery), rows)
        except IntegrityError:
            present = set(session.scalars(select(Webhook.id).where(Webhook.id.in_(webhook_ids))))
            if all(row["webhook_id"] in present for row in rows):
                raise
            rows = [row for row in rows if row["webhook_id"] in present]  # others have just been removed
        else:
            return
