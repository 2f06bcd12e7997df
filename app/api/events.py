"""The life of a submission as server-sent events.

Source: WHATWG HTML, section 9.2, "Server-sent events".
"""

import uuid
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta

import anyio
from anyio import to_thread
from fastapi import APIRouter, Request
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.types import Receive, Scope, Send

from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.submissions import SubmissionEvent
from vocboard.app.database import Database, now
from vocboard.app.errors import LimitedError, NotFoundError, NotSignedInError
from vocboard.app.submissions import queries, queue
from vocboard.app.submissions.models import State
from vocboard.app.web.identity import ApiIdentity, Identity, Viewer, client_address, viewer_now

router = APIRouter(tags=["submissions"])

INTERVAL = timedelta(seconds=1)  # between two looks at the database
MOST_STREAMS = 20  # open at once to one person, in one web process: each of them costs those looks
PAUSE = timedelta(seconds=10)  # before somebody who has so many may ask for another
FINAL_STATES = frozenset({State.SCORED, State.FAILED, State.WITHDRAWN})
EVENT = "state"


class OpenStreams:
    """How many streams each person, or visitor's address, has open in this process."""

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


@router.get(
    "/submissions/{submission_id}/events",
    response_class=EventStream,
    responses=problem_responses(401, 403, 404, 429)
    | {200: {"model": SubmissionEvent, "description": "The data of each event."}},
)
async def submission_events(
    request: Request, viewer: Viewer, identity: ApiIdentity, submission_id: uuid.UUID
) -> EventStream:
    """Events named `state`, with the state and the place in the queue, until the state is a final one.

    The stream also ends with the token or browser session that it was asked for with.
    """
    database: Database = request.app.state.database
    streams: OpenStreams = request.app.state.open_streams
    first = await to_thread.run_sync(_look, database, submission_id, identity)
    return _CountedStream(
        _events(database, submission_id, identity, first), streams, viewer.id if viewer else client_address(request)
    )


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
    database: Database, submission_id: uuid.UUID, identity: Identity, event: SubmissionEvent
) -> AsyncIterator[ServerSentEvent]:
    yield _sent(event)
    while event.state not in FINAL_STATES:
        await anyio.sleep(INTERVAL.total_seconds())
        before = event
        try:
            event = await to_thread.run_sync(_look, database, submission_id, identity)
        except (NotFoundError, NotSignedInError):  # unpublished, signed out or disabled meanwhile
            return
        if event != before:
            yield _sent(event)


def _look(database: Database, submission_id: uuid.UUID, identity: Identity) -> SubmissionEvent:
    with database.reading() as session:
        submission = queries.get_for(session, submission_id, viewer_now(session, identity))
        return SubmissionEvent(state=submission.state, queue_position=queue.queue_position(session, submission))


def _sent(event: SubmissionEvent) -> ServerSentEvent:
    return ServerSentEvent(event.model_dump_json(), event=EVENT)
