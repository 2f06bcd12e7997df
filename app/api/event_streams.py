"""Server-sent events for objects that change until they are final.

Source: WHATWG HTML, section 9.2, "Server-sent events".
"""

import uuid
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

import anyio
from anyio import to_thread
from pydantic import BaseModel
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.types import Receive, Scope, Send

from vocboard.app.errors import NotFoundError, NotSignedInError
from vocboard.app.web.open_streams import OpenStreams

Event = TypeVar("Event", bound=BaseModel)


class EventStream(EventSourceResponse):
    """A response with server-sent events, with its media type for the API documentation."""

    media_type = "text/event-stream"


async def follow(
    streams: OpenStreams,
    read_state: Callable[[], Event],
    *,
    name: str,
    is_final: Callable[[Event], bool],
    subject: uuid.UUID | str,
) -> EventStream:
    """Send an event for each change, until the object is final or the user may no longer see it.

    Args:
        read_state: reads the database, in a thread; its first exception becomes the response.
        name: name of the events.
        subject: the id of the user, or the address of a visitor.

    Raises:
        LimitedError: the subject has too many open streams.
    """
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
        except (NotFoundError, NotSignedInError):  # unpublished, signed out or disabled in the meantime
            return
        if event != before:
            yield ServerSentEvent(event.model_dump_json(), event=name)
