"""Server-sent events for objects that change until they are final, such as submissions.

Source: WHATWG HTML, section 9.2, "Server-sent events".
"""

import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import anyio
from anyio import to_thread
from fastapi import Request
from pydantic import BaseModel
from sqlalchemy.orm import Session
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.types import Receive, Scope, Send

from vocboard.app.accounts.models import User
from vocboard.app.accounts.viewer import Identity, viewer_now
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.values import Count
from vocboard.app.database import Database
from vocboard.app.errors import ForbiddenError, NotFoundError, NotSignedInError
from vocboard.app.intake.requests import client_address
from vocboard.app.rate_limits import network
from vocboard.app.submissions import queries, queue
from vocboard.app.submissions.models import State
from vocboard.app.web.dependencies import DatabaseDep, OpenStreamsDep
from vocboard.app.web.identity import ApiIdentity, Viewer
from vocboard.app.web.open_streams import OpenStreams

router = ApiRoutes(tags=["submissions"])

FINAL_STATES = frozenset({State.SCORED, State.FAILED, State.WITHDRAWN, State.DISQUALIFIED})
Event = TypeVar("Event", bound=BaseModel)


class EventStream(EventSourceResponse):
    """A response with server-sent events, with its media type for the API documentation."""

    media_type = "text/event-stream"


def event_responses(model: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of an operation that streams events, whose data has a schema."""
    errors = problem_responses(401, 403, 404, 429)
    return errors | {200: {"model": model, "description": f"Events, whose data is a {model.__name__} as JSON."}}


class SubmissionEvent(BaseModel):
    """An event of the stream: sent when the state or the queue position changes."""

    state: State
    queue_position: Count | None


@router.get(
    "/submissions/{submission_id}/events", response_class=EventStream, responses=event_responses(SubmissionEvent)
)
async def submission_events(
    request: Request,
    streams: OpenStreamsDep,
    database: DatabaseDep,
    viewer: Viewer,
    identity: ApiIdentity,
    submission_id: uuid.UUID,
) -> EventStream:
    """Stream events named `state`, with the state and the queue position, until the state is final.

    The stream also ends when the token or browser session of the request ends.
    """

    def read(session: Session, viewer: User | None) -> SubmissionEvent:
        submission = queries.get_for(session, submission_id, viewer)
        return SubmissionEvent(state=submission.state, queue_position=queue.queue_position(session, submission))

    return await follow(
        streams,
        database,
        identity,
        read,
        name="state",
        is_final=lambda event: event.state in FINAL_STATES,
        subject=viewer.id if viewer else network(client_address(request)),
    )


async def follow(
    streams: OpenStreams,
    database: Database,
    identity: Identity,
    read: Callable[[Session, User | None], Event],
    *,
    name: str,
    is_final: Callable[[Event], bool],
    subject: uuid.UUID | str,
) -> EventStream:
    """Send an event for each change, until the object is final or the user may no longer see it.

    Args:
        read: reads the state for the current user of the identity, in a thread; its first exception becomes the
            response.
        name: name of the events.
        subject: the id of the user, or the address of a visitor.

    Raises:
        LimitedError: the subject has too many open streams.
    """

    def read_state() -> Event:
        with database.reading() as session:
            return read(session, viewer_now(session, identity))

    first = await to_thread.run_sync(read_state)
    return _CountedStream(_events(streams, read_state, first, name, is_final), streams, subject)


class _CountedStream(EventStream):
    """A stream that is counted as open until its response ends for any reason."""

    def __init__(self, events: AsyncIterator[ServerSentEvent], streams: OpenStreams, subject: uuid.UUID | str) -> None:
        super().__init__(events, headers={"X-Accel-Buffering": "no"})
        self._streams, self._subject = streams, subject
        streams.enter(subject)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams.leave(self._subject)


async def _events(
    streams: OpenStreams, read_state: Callable[[], Event], event: Event, name: str, is_final: Callable[[Event], bool]
) -> AsyncIterator[ServerSentEvent]:
    yield ServerSentEvent(event.model_dump_json(), event=name)
    while not is_final(event):
        await anyio.sleep(streams.interval.total_seconds())
        before = event
        try:
            event = await to_thread.run_sync(read_state)
        except (ForbiddenError, NotFoundError, NotSignedInError):  # removed, unpublished, signed out or disabled
            return
        if event != before:
            yield ServerSentEvent(event.model_dump_json(), event=name)
