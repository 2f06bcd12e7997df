"""Server-sent events: what a request looks at, again and again until it is final.

Source: WHATWG HTML, section 9.2, "Server-sent events".
"""

import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import TypeVar

import anyio
from anyio import to_thread
from fastapi import Request
from pydantic import BaseModel
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.types import Receive, Scope, Send

from vocboard.app.database import now
from vocboard.app.errors import LimitedError, NotFoundError, NotSignedInError

INTERVAL = timedelta(seconds=1)  # between two looks at the database
MOST_STREAMS = 20  # open at once to one person, in one web process: each of them costs those looks
PAUSE = timedelta(seconds=10)  # before somebody who has so many may ask for another

Event = TypeVar("Event", bound=BaseModel)


class OpenStreams:
    """How many streams each person, or visitor's network, has open in this process."""

    def __init__(self) -> None:
        self._open: Counter[uuid.UUID | str] = Counter()

    def enter(self, subject: uuid.UUID | str) -> None:
        """Count one more.

        Raises:
            LimitedError: there are `MOST_STREAMS` already.
        """
        if self._open[subject] >= MOST_STREAMS:
            raise LimitedError(
                f"You follow {MOST_STREAMS} submissions already. Close some of the pages that show them.",
                allowed_at=now() + PAUSE,
            )
        self._open[subject] += 1

    def leave(self, subject: uuid.UUID | str) -> None:
        """Count one less."""
        self._open[subject] -= 1
        if not self._open[subject]:
            del self._open[subject]


class EventStream(EventSourceResponse):
    """Server-sent events, named so in the API's documentation."""

    media_type = "text/event-stream"


async def follow(
    request: Request,
    look: Callable[[], Event],
    *,
    name: str,
    is_final: Callable[[Event], bool],
    subject: uuid.UUID | str,
) -> EventStream:
    """Send an event each time that something has changed, until it is final or may not be seen any more.

    Args:
        look: reads the database, in a thread; what it raises the first time is the answer.
        name: of the events.
        subject: who has the stream open: a person's id or a visitor's address.

    Raises:
        LimitedError: the subject has too many open.
    """
    streams: OpenStreams = request.app.state.open_streams
    first = await to_thread.run_sync(look)
    return _CountedStream(_events(look, first, name, is_final), streams, subject)


class _CountedStream(EventStream):
    """A stream that counts as open from now until its response has ended, whichever way."""

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
    look: Callable[[], Event], event: Event, name: str, is_final: Callable[[Event], bool]
) -> AsyncIterator[ServerSentEvent]:
    yield ServerSentEvent(event.model_dump_json(), event=name)
    while not is_final(event):
        await anyio.sleep(INTERVAL.total_seconds())
        before = event
        try:
            event = await to_thread.run_sync(look)
        except (NotFoundError, NotSignedInError):  # unpublished, signed out or disabled meanwhile
            return
        if event != before:
            yield ServerSentEvent(event.model_dump_json(), event=name)
