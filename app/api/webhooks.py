"""Webhooks: a person's own, and those of a challenge, for its organisers."""

import uuid
from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from vocboard.app.api.paging import ItemPage, PagingByTime
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.values import FromObject, Given, Instant
from vocboard.app.web.dependencies import DatabaseDep, SettingsDep
from vocboard.app.web.identity import ReadingUser, SubmittingUser
from vocboard.app.web.organised import OrganisedByToken
from vocboard.app.webhooks import service
from vocboard.app.webhooks.models import CHOICES, Event, Off, WebhookDelivery
from vocboard.app.webhooks.models import Webhook as WebhookRow
from vocboard.app.webhooks.service import MAX_URL_LENGTH, Owner

router = ApiRoutes(tags=["webhooks"])
OF_CHALLENGE = "/challenges/{slug}/webhooks"
CHANGING = problem_responses(401, 403, 404)
ADDING = problem_responses(400, 401, 403, 409)
TESTING = problem_responses(401, 403, 404, 429)

ChosenEvent = Literal[  # `CHOICES`
    "submission.scored", "submission.failed", "submission.published", "submission.corrected", "challenge.announced"
]


class NewWebhook(Given):
    """A webhook to add."""

    url: str = Field(max_length=MAX_URL_LENGTH, description="Where to send events: https, on the internet.")
    events: list[ChosenEvent] = Field(min_length=1, max_length=len(CHOICES), description="What to be told of.")


class Webhook(BaseModel):
    """An address that is told of events."""

    id: uuid.UUID
    created_at: Instant
    url: str
    events: list[Event]
    off_because: Off | None = Field(
        description="Why it is switched off: `gone`, it has answered 410; `silent`, an event could not be delivered "
        "for three days; `key`, the server cannot sign with its secret any more. A test that arrives switches it on."
    )
    next_attempt_at: Instant | None = Field(description="If something waits to be delivered.")


class AddedWebhook(Webhook):
    """A webhook that was just added."""

    secret: str = Field(description="Key of the signatures, as Standard Webhooks writes it. It is shown only now.")


class Delivery(FromObject):
    """An event for a webhook, and what became of it."""

    id: uuid.UUID = Field(description="The header `webhook-id` of all attempts.")
    created_at: Instant
    event: Event
    delivered: bool = Field(validation_alias="is_delivered")
    ended_at: Instant | None = Field(description="When it was delivered or given up; null while it waits.")
    attempts: int
    attempted_at: Instant | None = Field(description="When the last attempt was made.")
    status: int | None = Field(description="HTTP status of the last answer; null without one.")
    error: str | None = Field(description="What was wrong if there was no answer.")
    content: str = Field(description="What is sent: a JSON object with `type`, `timestamp` and `data`.")


@router.get("/webhooks", responses=problem_responses(401, 403))
def list_webhooks(database: DatabaseDep, user: ReadingUser) -> list[Webhook]:
    """List your webhooks, which are told of your submissions, those of your teams, and announcements to you."""
    with database.reading() as session:
        return _listed(session, Owner(user))


@router.post("/webhooks", status_code=201, responses=ADDING)
def add_webhook(database: DatabaseDep, settings: SettingsDep, user: SubmittingUser, given: NewWebhook) -> AddedWebhook:
    """Add a webhook. Requests to it are signed as Standard Webhooks says, with the secret that this returns."""
    with database.writing() as session:
        return _added(*service.add(session, owner=Owner(user), url=given.url, chosen=given.events, settings=settings))


@router.delete("/webhooks/{webhook_id}", status_code=204, responses=CHANGING)
def remove_webhook(database: DatabaseDep, user: SubmittingUser, webhook_id: uuid.UUID) -> None:
    """Remove a webhook, with what waits for it."""
    with database.writing() as session:
        service.remove(session, owner=Owner(user), webhook_id=webhook_id)


@router.post("/webhooks/{webhook_id}/test", status_code=202, responses=TESTING)
def test_webhook(database: DatabaseDep, user: SubmittingUser, webhook_id: uuid.UUID) -> Delivery:
    """Send the event `webhook.test` within a quarter of a minute, once. If it is delivered, the webhook is on."""
    with database.writing() as session:
        return Delivery.model_validate(service.test(session, owner=Owner(user), webhook_id=webhook_id))


@router.get("/webhooks/{webhook_id}/deliveries", responses=CHANGING)
def list_deliveries(
    database: DatabaseDep, user: ReadingUser, webhook_id: uuid.UUID, paging: PagingByTime
) -> ItemPage[Delivery]:
    """List what a webhook was told, newest first."""
    with database.reading() as session:
        return _deliveries(session, Owner(user), webhook_id, paging)


@router.get(OF_CHALLENGE, responses=CHANGING)
def list_challenge_webhooks(organised: OrganisedByToken) -> list[Webhook]:
    """List the webhooks of a challenge, which are told of all its submissions and announcements."""
    with organised.reading() as (session, challenge):
        return _listed(session, Owner(organised.user, challenge.id))


@router.post(OF_CHALLENGE, status_code=201, responses=ADDING | problem_responses(404))
def add_challenge_webhook(organised: OrganisedByToken, given: NewWebhook) -> AddedWebhook:
    """Add a webhook of a challenge. It is removed when you no longer organise the challenge."""
    with organised.writing() as (session, challenge):
        owner = Owner(organised.user, challenge.id)
        settings = organised.settings
        return _added(*service.add(session, owner=owner, url=given.url, chosen=given.events, settings=settings))


@router.delete(OF_CHALLENGE + "/{webhook_id}", status_code=204, responses=CHANGING)
def remove_challenge_webhook(organised: OrganisedByToken, webhook_id: uuid.UUID) -> None:
    """Remove a webhook of a challenge, with what waits for it."""
    with organised.writing() as (session, challenge):
        service.remove(session, owner=Owner(organised.user, challenge.id), webhook_id=webhook_id)


@router.post(OF_CHALLENGE + "/{webhook_id}/test", status_code=202, responses=TESTING)
def test_challenge_webhook(organised: OrganisedByToken, webhook_id: uuid.UUID) -> Delivery:
    """Send the event `webhook.test` within a quarter of a minute, once. If it is delivered, the webhook is on."""
    with organised.writing() as (session, challenge):
        found = service.test(session, owner=Owner(organised.user, challenge.id), webhook_id=webhook_id)
        return Delivery.model_validate(found)


@router.get(OF_CHALLENGE + "/{webhook_id}/deliveries", responses=CHANGING)
def list_challenge_deliveries(
    organised: OrganisedByToken, webhook_id: uuid.UUID, paging: PagingByTime
) -> ItemPage[Delivery]:
    """List what a webhook of a challenge was told, newest first."""
    with organised.reading() as (session, challenge):
        return _deliveries(session, Owner(organised.user, challenge.id), webhook_id, paging)


def _listed(session: Session, owner: Owner) -> list[Webhook]:
    found = service.webhooks_of(session, owner)
    due = service.next_attempts(session, found)
    return [Webhook(**_described(one), next_attempt_at=due.get(one.id)) for one in found]


def _added(webhook: WebhookRow, secret: str) -> AddedWebhook:
    return AddedWebhook(**_described(webhook), next_attempt_at=None, secret=secret)


def _described(webhook: WebhookRow) -> dict[str, Any]:
    own = {name: getattr(webhook, name) for name in ("id", "created_at", "url", "off_because")}
    return {**own, "events": [Event(name) for name in webhook.events.split()]}


def _deliveries(session: Session, owner: Owner, webhook_id: uuid.UUID, paging: PagingByTime) -> ItemPage[Delivery]:
    found = service.deliveries(session, owner, webhook_id, **paging.chosen)
    convert: Callable[[WebhookDelivery], Delivery] = Delivery.model_validate
    return paging.page_of(found, convert)
