"""State changes of a submission as server-sent events."""

import uuid
from functools import partial

from fastapi import APIRouter, Request

from vocboard.app.api.event_streams import EventStream, follow
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.submissions import SubmissionEvent
from vocboard.app.database import Database
from vocboard.app.rate_limits import network
from vocboard.app.submissions import queries, queue
from vocboard.app.submissions.models import State
from vocboard.app.web.client import client_address
from vocboard.app.web.dependencies import DatabaseDep, OpenStreamsDep
from vocboard.app.web.identity import ApiIdentity, Viewer
from vocboard.app.web.viewer import Identity, viewer_now

router = APIRouter(tags=["submissions"])

FINAL_STATES = frozenset({State.SCORED, State.FAILED, State.WITHDRAWN, State.DISQUALIFIED})
EVENT = "state"


@router.get(
    "/submissions/{submission_id}/events",
    response_class=EventStream,
    responses=problem_responses(401, 403, 404, 429)
    | {200: {"model": SubmissionEvent, "description": "The data of each event."}},
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
    return await follow(
        streams,
        partial(_read_state, database, submission_id, identity),
        name=EVENT,
        is_final=lambda event: event.state in FINAL_STATES,
        subject=viewer.id if viewer else network(client_address(request)),
    )


def _read_state(database: Database, submission_id: uuid.UUID, identity: Identity) -> SubmissionEvent:
    with database.reading() as session:
        submission = queries.get_for(session, submission_id, viewer_now(session, identity))
        return SubmissionEvent(state=submission.state, queue_position=queue.queue_position(session, submission))
