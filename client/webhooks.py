"""Webhooks of a user or of a challenge, in requests and answers of the API."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from vocboard.client.connection import Answer, Connection
from vocboard.client.paging import items
from vocboard.client.paths import path
from vocboard.client.reading import read


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that is told of events.

    Attributes:
        off_because: why it is switched off; None if it is on.
        secret: the key of the signatures, when it was just added; None later.
    """

    id: str
    url: str
    events: tuple[str, ...]
    off_because: str | None
    secret: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event for a webhook, and what became of it.

    Attributes:
        id: the header `webhook-id`.
        ended_at: when it was delivered or given up; None while it waits.
        status: HTTP status of the last answer; None without one.
        error: what was wrong if there was no answer.
        content: what is sent, in JSON.
    """

    id: str
    created_at: datetime
    event: str
    delivered: bool
    ended_at: datetime | None
    attempts: int
    status: int | None
    error: str | None
    content: str


def webhook(answer: Mapping[str, Any]) -> Webhook:
    """Read a webhook."""
    return read(Webhook, answer)


def delivery(answer: Mapping[str, Any]) -> Delivery:
    """Read a delivery."""
    return read(Delivery, answer)


def listed(connection: Connection, challenge: str | None) -> Answer:
    """Return the webhooks of the user, or of a challenge that the user organises."""
    return connection.get(_where(challenge))


def added(connection: Connection, challenge: str | None, url: str, events: Sequence[str]) -> Answer:
    """Add a webhook, and return it with its secret."""
    return connection.post(_where(challenge), {"url": url, "events": list(events)})


def removed(connection: Connection, challenge: str | None, identifier: str) -> None:
    """Remove a webhook, with what waits for it."""
    connection.post(_where(challenge, identifier), method="DELETE")


def tried(connection: Connection, challenge: str | None, identifier: str) -> Answer:
    """Send a webhook a test, and return its delivery."""
    return connection.post(_where(challenge, identifier, "test"))


def deliveries(connection: Connection, challenge: str | None, identifier: str) -> Iterator[Answer]:
    """Yield what a webhook was told, newest first."""
    return items(connection, _where(challenge, identifier, "deliveries"))


def _where(challenge: str | None, *parts: str) -> str:
    return path(*(() if challenge is None else ("challenges", challenge)), "webhooks", *parts)
