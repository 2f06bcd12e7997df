"""The life of a submission as server-sent events.

Source: WHATWG HTML, section 9.2, "Server-sent events".
"""

import uuid
from collections.abc import AsyncIterator
from datetime import timedelta

import anyio
from anyio import to_thread
from fastapi import APIRouter, Request
from sse_starlette import EventSourceResponse, ServerSentEvent

from app.accounts.models import User
from app.api.problems import problem_responses
from app.api.schemas.submissions import SubmissionEvent
from app.database import Database
from app.errors import NotFoundError
from app.security.identity import Viewer
from app.submissions import queries, queue
from app.submissions.models import State

router = APIRouter(tags=["submissions"])

INTERVAL = timedelta(seconds=1)  # between two looks at the database
FINAL_STATES = frozenset({State.SCORED, State.FAILED, State.WITHDRAWN})
EVENT = "state"


class EventStream(EventSourceResponse):
    """Server-sent events, named so in the API's documentation."""

    media_type = "text/event-stream"


@router.get(
    "/submissions/{submission_id}/events",
    response_class=EventStream,
    responses=problem_responses(401, 403, 404)
    | {200: {"model": SubmissionEvent, "description": "The data of each event."}},
)
async def submission_events(request: Request, viewer: Viewer, submission_id: uuid.UUID) -> EventStream:
    """Events named `state`, with the state and the place in the queue, until the state is a final one."""
    database: Database = request.app.state.database
    first = await to_thread.run_sync(_look, database, submission_id, viewer)
    return EventStream(_events(database, submission_id, viewer, first), headers={"X-Accel-Buffering": "no"})


async def _events(
    database: Database, submission_id: uuid.UUID, viewer: User | None, event: SubmissionEvent
) -> AsyncIterator[ServerSentEvent]:
    yield _sent(event)
    while event.state not in FINAL_STATES:
        await anyio.sleep(INTERVAL.total_seconds())
        before = event
        try:
            event = await to_thread.run_sync(_look, database, submission_id, viewer)
        except NotFoundError:  # unpublished meanwhile, and not this viewer's to see any more
            return
        if event != before:
            yield _sent(event)


def _look(database: Database, submission_id: uuid.UUID, viewer: User | None) -> SubmissionEvent:
    with database.reading() as session:
        submission = queries.get_for(session, submission_id, viewer)
        return SubmissionEvent(state=submission.state, queue_position=queue.queue_position(session, submission))


def _sent(event: SubmissionEvent) -> ServerSentEvent:
    return ServerSentEvent(event.model_dump_json(), event=EVENT)
