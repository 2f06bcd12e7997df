"""The pages of webhooks: a person's own, and those of a challenge for its organisers."""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import Depends, Form, Request
from pydantic import BaseModel
from sqlalchemy.orm import Session
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.errors import ConflictError, InvalidInputError, LimitedError
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import services_of
from vocboard.app.web.identity import CurrentIdentity, require_organiser, require_user
from vocboard.app.web.organised import OrganisedChallenge
from vocboard.app.web.routes import Routes
from vocboard.app.web.shown_once import forget, show_once, shown_once
from vocboard.app.webhooks import service
from vocboard.app.webhooks.models import CHOICES
from vocboard.app.webhooks.service import Owner

router = Routes()
OWN, OF_CHALLENGE = "/account/webhooks", "/organise/{slug}/webhooks"
SHOWN_DELIVERIES = 10  # of each webhook
PROTECTED = [Depends(protect_form)]


class WebhookForm(BaseModel):
    """The form for a new webhook."""

    url: str = ""
    events: list[str] = []


class Place:
    """The page whose webhooks are meant."""

    def __init__(self, request: Request, user: User, organised: OrganisedChallenge | None = None) -> None:
        self.request, self.user, self._organised = request, user, organised
        self.services = services_of(request)
        self.path = OWN if organised is None else OF_CHALLENGE.format(slug=organised.slug)

    @contextmanager
    def opened(self, *, writing: bool = True) -> Iterator[tuple[Session, Owner, Challenge | None]]:
        """Begin a transaction, in which the user is checked to organise the challenge."""
        if self._organised is not None:
            begun = self._organised.writing() if writing else self._organised.reading()
            with begun as (session, challenge):
                yield session, Owner(self.user, challenge.id), challenge
            return
        database = self.services.database
        with database.writing() if writing else database.reading() as session:
            yield session, Owner(self.user), None


async def _place(request: Request, identity: CurrentIdentity) -> Place:
    """Return the page in the path, for a signed-in user or, if it is of a challenge, for an organiser."""
    slug = request.path_params.get("slug")  # as a parameter, it would be a query field of a person's own page
    if slug is None:
        return Place(request, await require_user(identity))
    user = await require_organiser(identity)
    return Place(request, user, OrganisedChallenge(request, user, slug))


PlaceDep = Annotated[Place, Depends(_place)]


@router.get(OWN)
@router.get(OF_CHALLENGE)
def webhooks_page(place: PlaceDep) -> Response:
    """Your webhooks, or those of a challenge, with their last deliveries."""
    return _page(place)


@router.post(OWN, dependencies=PROTECTED)
@router.post(OF_CHALLENGE, dependencies=PROTECTED)
def add(place: PlaceDep, form: Annotated[WebhookForm, Form()]) -> Response:
    """Add a webhook; the page shows its secret once."""
    settings = place.services.settings
    try:
        with place.opened() as (session, owner, _):
            webhook, secret = service.add(session, owner=owner, url=form.url, chosen=form.events, settings=settings)
    except (ConflictError, InvalidInputError) as error:
        return _page(place, form, FormErrors.of(error))
    response = go_to(place.path)
    shown = json.dumps({"url": webhook.url, "secret": secret})
    show_once(response, place.request, settings, page=place.path, secret=shown)
    return response


@router.post(OWN + "/{webhook_id}/test", dependencies=PROTECTED)
@router.post(OF_CHALLENGE + "/{webhook_id}/test", dependencies=PROTECTED)
def test(place: PlaceDep, webhook_id: uuid.UUID) -> Response:
    """Send a test."""
    try:
        with place.opened() as (session, owner, _):
            service.test(session, owner=owner, webhook_id=webhook_id)
    except LimitedError as error:
        return _page(place, errors=FormErrors.of(error))
    return go_to(place.path, done="webhook-test")


@router.post(OWN + "/{webhook_id}/remove", dependencies=PROTECTED)
@router.post(OF_CHALLENGE + "/{webhook_id}/remove", dependencies=PROTECTED)
def remove(place: PlaceDep, webhook_id: uuid.UUID) -> Response:
    """Remove a webhook."""
    with place.opened() as (session, owner, _):
        service.remove(session, owner=owner, webhook_id=webhook_id)
    return go_to(place.path, done="webhook-removed")


def _page(place: Place, form: WebhookForm | None = None, errors: FormErrors = NO_ERRORS) -> Response:
    settings = place.services.settings
    shown = shown_once(place.request, settings)
    with place.opened(writing=False) as (session, owner, challenge):
        webhooks = service.webhooks_of(session, owner)
        due = service.next_attempts(session, webhooks)
        log = {one.id: service.deliveries(session, owner, one.id, per_page=SHOWN_DELIVERIES).items for one in webhooks}
        response = render(
            place.request,
            "webhooks.html",
            challenge=challenge,
            base=place.path,
            webhooks=webhooks,
            due=due,
            log=log,
            new=json.loads(shown) if shown else None,
            form=(form or WebhookForm(events=list(CHOICES))).model_dump(),
            errors=errors,
            choices=CHOICES,
            is_set_up=settings.key_of_webhooks is not None,
            max_url=service.MAX_URL_LENGTH,
        )
    if shown:
        forget(response, settings)
    return response
