"""Following one submission until it is scored, failed or withdrawn."""

import json
import math
import time
from collections.abc import Callable, Iterator
from itertools import takewhile

from vocboard.client import events
from vocboard.client.answers import (
    FINAL_STATES,
    StateEvent,
    SubmissionDetails,
    state_event,
    submission_details,
    understood,
)
from vocboard.client.connection import Connection
from vocboard.client.errors import LimitedError, NetworkError, RefusedError, UnexpectedAnswerError
from vocboard.client.paths import path

READ_TIMEOUT_SECONDS = 45.0  # the server pings more often; after a longer silence the connection is dead
FIRST_PAUSE_SECONDS = 1.0  # between two requests while there is no event stream
MAX_PAUSE_SECONDS = 15.0
SETTLING_SECONDS = 0.1  # between the event for a final state and the request for the submission
UNREACHABLE_SECONDS = 300.0  # long enough for a restart of the server


def follow(
    connection: Connection,
    identifier: str,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
    until: float = math.inf,
) -> Iterator[SubmissionDetails | StateEvent]:
    """Yield the submission, then each change of its state or queue position, and last the final submission.

    Requests the submission once, then listens to the server's events. If the event stream is unavailable or is cut off,
    it polls. If the server cannot be reached or returns server errors, it keeps trying for a few minutes.

    Args:
        connection: to the server.
        identifier: of the submission.
        sleep: for tests.
        clock: for tests.
        until: the `clock` time at which to stop, even if the submission is not final.

    Raises:
        ClientError: there is no such submission, or the server stays unavailable.
    """
    seen: StateEvent | None = None
    pause = FIRST_PAUSE_SECONDS
    available_at = clock()
    while clock() < until:
        try:
            current = understood(submission_details, connection.get(path("submissions", identifier)))
        except (NetworkError, RefusedError) as error:
            if not _is_temporary(error) or clock() - available_at > UNREACHABLE_SECONDS:
                raise
        else:
            available_at = clock()
            state = StateEvent(current.state, current.queue_position)
            if state != seen or current.is_final:
                yield current
            if current.is_final:
                return
            seen = state
            for event in _events(connection, identifier, min(READ_TIMEOUT_SECONDS, until - clock()), clock, until):
                pause = FIRST_PAUSE_SECONDS
                if event != seen:
                    seen = event
                    yield event
            available_at = clock()  # a stream may have lasted for hours
            if seen.state in FINAL_STATES:
                pause = SETTLING_SECONDS
        sleep(min(pause, max(until - clock(), 0.0)))
        pause = min(2 * pause, MAX_PAUSE_SECONDS)


def _events(
    connection: Connection, identifier: str, read_timeout_seconds: float, clock: Callable[[], float], until: float
) -> Iterator[StateEvent]:
    """Yield the server's events until the stream ends; nothing if there is no stream or no time left."""
    if read_timeout_seconds <= 0:
        return
    try:
        with connection.events(
            path("submissions", identifier, "events"), read_timeout_seconds=read_timeout_seconds
        ) as lines:
            for event in events.parse(takewhile(lambda _: clock() < until, lines)):
                yield understood(state_event, json.loads(event.data))
    except (NetworkError, RefusedError, UnexpectedAnswerError, ValueError):
        return  # the caller polls


def _is_temporary(error: NetworkError | RefusedError) -> bool:
    return isinstance(error, NetworkError | LimitedError) or (isinstance(error, RefusedError) and error.status >= 500)
