"""Following a submission: the event stream, and what happens without it."""

import json
from collections.abc import Iterator

import httpx
import pytest

from tests.client.answers import make_answer
from vocboard.client.answers import SubmissionDetails
from vocboard.client.connection import Connection
from vocboard.client.errors import MisdirectedError, NetworkError
from vocboard.client.events import Event, parse
from vocboard.client.following import UNREACHABLE_SECONDS, follow


class Server:
    """A server whose one submission goes through the given states, one a poll; with or without an event stream."""

    def __init__(
        self, *states: tuple[str, int | None] | Exception | int, events: str | Iterator[bytes] | None = None
    ) -> None:
        self.states = iter(states)
        self.events = events
        self.polls = 0
        self.streams = 0
        self.now = 0.0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/events"):
            self.streams += 1
            if self.events is None:
                return httpx.Response(404, json={"detail": "no such thing"})
            return httpx.Response(200, content=self.events, headers={"Content-Type": "text/event-stream"})
        self.polls += 1
        state = next(self.states)
        if isinstance(state, Exception):
            raise state
        if isinstance(state, int):
            return httpx.Response(state, json={"detail": "no"})
        return httpx.Response(200, json=make_answer(*state))

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def followed(self) -> list[tuple[str, int | None]]:
        transport = httpx.MockTransport(self)
        with Connection("https://voc.example.org", "t", transport=transport, sleep=self.sleep) as connection:
            steps = list(follow(connection, "7", sleep=self.sleep, clock=lambda: self.now))
        assert isinstance(steps[-1], SubmissionDetails)
        return [(step.state, step.queue_position) for step in steps]


def stream(*states: tuple[str, int | None]) -> str:
    events = (json.dumps({"state": state, "queue_position": position}) for state, position in states)
    return "".join(f"event: state\r\ndata: {event}\r\n\r\n: ping\r\n\r\n" for event in events)


def test_hears_every_change_from_the_event_stream() -> None:
    events = stream(("queued", 2), ("queued", 1), ("evaluating", None), ("scored", None))
    server = Server(("queued", 2), ("scored", None), events=events)

    assert server.followed() == [
        ("queued", 2),
        ("queued", 1),
        ("evaluating", None),
        ("scored", None),
        ("scored", None),
    ]
    assert (server.polls, server.streams) == (2, 1)


def test_looks_from_time_to_time_where_there_is_no_event_stream() -> None:
    server = Server(("queued", 1), ("queued", 1), ("evaluating", None), ("failed", None))

    assert server.followed() == [("queued", 1), ("evaluating", None), ("failed", None)]
    assert server.polls == 4


def test_a_stream_that_breaks_off_is_taken_up_again() -> None:
    server = Server(("queued", 1), ("evaluating", None), ("scored", None), events=stream(("queued", 1)) + "data: {")

    assert server.followed()[-1] == ("scored", None)
    assert server.streams == 2


@pytest.mark.parametrize("junk", ["data: nonsense\n\n", "data: []\n\n", 'data: {"state": "queued"}\n\n'])
def test_a_stream_of_something_else_does_no_harm(junk: str) -> None:
    assert Server(("queued", 1), ("scored", None), events=junk).followed() == [("queued", 1), ("scored", None)]


def test_a_final_submission_is_not_listened_to() -> None:
    server = Server(("withdrawn", None), events="")

    assert server.followed() == [("withdrawn", None)]
    assert server.streams == 0


def test_outlives_a_restart_of_the_server() -> None:
    down = [httpx.ConnectError("refused")] * 8 + [503] * 8
    assert Server(("queued", 1), *down, ("scored", None)).followed() == [("queued", 1), ("scored", None)]


def test_outlives_a_restart_after_hours_of_listening() -> None:
    server = Server(("queued", 1), *[httpx.ConnectError("refused")] * 8, ("scored", None))

    def events() -> Iterator[bytes]:
        yield stream(("queued", 1)).encode()
        server.now += 10 * UNREACHABLE_SECONDS

    server.events = events()
    assert server.followed() == [("queued", 1), ("scored", None)]


def test_gives_up_on_a_server_that_stays_away() -> None:
    def for_ever() -> Iterator[Exception]:
        while True:
            yield httpx.ConnectError("refused")

    server = Server()
    server.states = for_ever()
    with pytest.raises(NetworkError, match="cannot reach"):
        server.followed()
    assert UNREACHABLE_SECONDS < server.now < 2 * UNREACHABLE_SECONDS


def test_a_submission_that_is_not_there_is_reported_at_once() -> None:
    with pytest.raises(MisdirectedError):
        Server(404).followed()


def test_contradictory_announcements_do_not_make_it_hurry() -> None:
    states = [("queued", 1)] * 20
    server = Server(*states, ("scored", None), events=stream(("queued", 2)))

    server.followed()

    assert server.now >= 20


def test_reads_events_as_the_standard_has_them() -> None:
    lines = [
        ": a comment keeps the connection alive",
        "",
        "event: state",
        "id: 7",
        'data: {"state": "queued"}',
        "",
        "data:without a space",
        "data",
        "data:  with two",
        "",
        "event: state",
        "",
        "data: the connection broke before the empty line",
    ]

    assert list(parse(lines)) == [
        Event("state", '{"state": "queued"}'),
        Event("message", "without a space\n\n with two"),
    ]
