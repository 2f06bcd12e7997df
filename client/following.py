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
from vocboard.client.connection import Connection, path
from vocboard.client.errors import LimitedError, NetworkError, RefusedError, UnexpectedAnswerError

PATIENCE_SECONDS = 45.0  # a stream that is silent for longer has died on the way; the server pings more often
FIRST_PAUSE_SECONDS = 1.0  # between two looks while no stream lasts
LONGEST_PAUSE_SECONDS = 15.0
SETTLING_SECONDS = 0.1  # between the announcement of a final state and the look at it
UNREACHABLE_SECONDS = 300.0  # a server may be restarted meanwhile


def follow(
    connection: Connection,
    identifier: str,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
    until: float = math.inf,
) -> Iterator[SubmissionDetails | StateEvent]:
    """Give the submission now, each change of its state or place in the queue, and at last the final submission.

    Looks once, then listens to the server's events; where these cannot be had or break off, it goes on looking from
    time to time. A server that cannot be reached, or is in trouble, is given a few minutes.

    Args:
        connection: to the server.
        identifier: of the submission.
        sleep: for tests.
        clock: for tests.
        until: when to stop, as `clock` has it, final or not.

    Raises:
        ClientError: there is no such submission, or the trouble lasts.
    """
    seen: StateEvent | None = None
    pause = FIRST_PAUSE_SECONDS
    well_at = clock()
    while clock() < until:
        try:
            current = understood(submission_details, connection.get(path("submissions", identifier)))
        except (NetworkError, RefusedError) as error:
            if not _may_pass(error) or clock() - well_at > UNREACHABLE_SECONDS:
                raise
        else:
            well_at = clock()
            state = StateEvent(current.state, current.queue_position)
            if state != seen or current.is_final:
                yield current
            if current.is_final:
                return
            seen = state
            for event in _events(connection, identifier, min(PATIENCE_SECONDS, until - clock()), clock, until):
                pause = FIRST_PAUSE_SECONDS
                if event != seen:
                    seen = event
                    yield event
            if seen.state in FINAL_STATES:
                pause = SETTLING_SECONDS
        sleep(min(pause, max(until - clock(), 0.0)))
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


def _events(
    connection: Connection, identifier: str, patience_seconds: float, clock: Callable[[], float], until: float
) -> Iterator[StateEvent]:
    """Give the server's events for as long as the stream lasts; none where there is no stream, or no time left."""
    if patience_seconds <= 0:
        return
    try:
        with connection.events(path("submissions", identifier, "events"), patience_seconds=patience_seconds) as lines:
            for event in events.parse(takewhile(lambda _: clock() < until, lines)):
                yield understood(state_event, json.loads(event.data))
    except (NetworkError, RefusedError, UnexpectedAnswerError, ValueError):
        return  # whoever follows looks by itself


def _may_pass(error: NetworkError | RefusedError) -> bool:
    return isinstance(error, NetworkError | LimitedError) or (isinstance(error, RefusedError) and error.status >= 500)
