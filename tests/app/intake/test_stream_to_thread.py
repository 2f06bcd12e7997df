"""Receiving a body: handed to a thread in order, at a minimum rate, within a maximum duration."""

import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import timedelta

import anyio
import pytest

from vocboard.app.errors import TooSlowError
from vocboard.app.intake.body import BACKLOG_BYTES, BATCH_BYTES, Pace, stream_to_thread

PIECE = BATCH_BYTES // 4
PIECES = [bytes([number]) * PIECE for number in range(18)]


class Handler:
    """Keeps what it is given, and stops at a gate where there is one."""

    def __init__(self, *, refuses: int | None = None, gate: threading.Event | None = None) -> None:
        self.pieces: list[bytes] = []
        self.is_running = False
        self.has_begun = threading.Event()
        self._refuses, self._gate = refuses, gate

    def __call__(self, pieces: Iterable[bytes]) -> None:
        self.is_running = True
        self.has_begun.set()
        if self._gate is not None:
            assert self._gate.wait(30)
        for piece in pieces:
            self.pieces.append(piece)
            if self._refuses is not None and len(self.pieces) > self._refuses:
                self.is_running = False
                raise ValueError("refused")
        self.is_running = False


async def stream(pieces: Sequence[bytes], then: Callable[[], None] = lambda: None) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
    then()


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 18])
def test_passes_on_all_chunks_in_order(count: int) -> None:
    handler = Handler()
    anyio.run(stream_to_thread, stream(PIECES[:count]), handler)
    assert handler.pieces == PIECES[:count]


def test_what_comes_next_is_received_while_a_batch_is_handled() -> None:
    gate = threading.Event()
    handler = Handler(gate=gate)
    # Only the end of the stream opens the gate: handled one after the other, this would wait for itself.
    anyio.run(stream_to_thread, stream(PIECES[:6], then=gate.set), handler)
    assert handler.pieces == PIECES[:6]


@pytest.mark.parametrize("refuses", [0, 4, 17])
def test_what_handling_raises_is_raised_and_nothing_is_passed_on_afterwards(refuses: int) -> None:
    handler = Handler(refuses=refuses)
    with pytest.raises(ValueError, match="refused"):
        anyio.run(stream_to_thread, stream(PIECES), handler)
    assert len(handler.pieces) == refuses + 1


def test_handling_that_fails_is_reported_while_the_stream_waits_for_room() -> None:
    gate = threading.Event()
    threading.Timer(0.05, gate.set).start()
    with pytest.raises(ValueError, match="refused"):
        anyio.run(stream_to_thread, stream(PIECES * 4), Handler(refuses=0, gate=gate))


def test_no_more_than_the_backlog_is_received_ahead() -> None:
    drawn, ahead = 0, list[int]()

    async def counted() -> AsyncIterator[bytes]:
        nonlocal drawn
        for number in range(100):
            drawn += 1
            yield bytes([number]) * PIECE

    def handle(pieces: Iterable[bytes]) -> None:
        for piece in pieces:
            ahead.append(drawn - len(ahead))
            assert piece[0] == len(ahead) - 1

    anyio.run(stream_to_thread, counted(), handle)
    assert len(ahead) == 100
    assert max(ahead) <= BACKLOG_BYTES // PIECE + 1


def test_a_stream_that_breaks_off_waits_for_what_is_being_handled() -> None:
    gate = threading.Event()
    handler = Handler(gate=gate)

    def break_off() -> None:
        assert handler.has_begun.wait(30)
        threading.Timer(0.05, gate.set).start()
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        anyio.run(stream_to_thread, broken(break_off), handler)
    assert not handler.is_running
    assert handler.pieces == PIECES[:5]


async def broken(break_off: Callable[[], None]) -> AsyncIterator[bytes]:
    for piece in PIECES[:5]:
        yield piece
        await anyio.sleep(0.01)  # the thread begins
    break_off()


WINDOW = timedelta(seconds=0.2)


async def trickle(pause: float, piece: bytes, pieces: int) -> AsyncIterator[bytes]:
    for _ in range(pieces):
        await anyio.sleep(pause)
        yield piece


def receive(pace: Pace, body: AsyncIterator[bytes], *, handling_seconds: float = 0) -> int:
    async def run() -> int:
        received = 0
        async with pace.enforced():
            async for piece in pace.stream(body):
                received += len(piece)
                await anyio.sleep(handling_seconds)
        return received

    return anyio.run(run)


def test_a_body_at_the_minimum_rate_is_received_however_long_it_is() -> None:
    pace = Pace(duration=timedelta(minutes=1), bytes_per_second=1000, window=WINDOW)
    assert receive(pace, trickle(0.05, bytes(200), 20)) == 4000
    assert pace.received == 4000


def test_a_body_below_the_minimum_rate_is_ended() -> None:
    pace = Pace(duration=timedelta(minutes=1), bytes_per_second=10_000, window=WINDOW)
    with pytest.raises(TooSlowError, match="10,000 bytes per second"):
        receive(pace, trickle(0.05, bytes(100), 1000))


def test_a_rate_that_is_raised_ends_what_was_fast_enough() -> None:
    pace = Pace(duration=timedelta(minutes=1), bytes_per_second=1000, window=WINDOW)

    async def body() -> AsyncIterator[bytes]:
        async for piece in trickle(0.05, bytes(200), 1000):
            if pace.received == 2000:
                pace.bytes_per_second = 8000
            yield piece

    with pytest.raises(TooSlowError, match="8,000 bytes per second, the required minimum while many people upload"):
        receive(pace, body())


def test_a_body_that_never_comes_is_ended() -> None:
    pace = Pace(duration=timedelta(minutes=1), bytes_per_second=1, window=WINDOW)
    began = time.monotonic()
    with pytest.raises(TooSlowError):
        receive(pace, trickle(60, b"x", 1))
    assert time.monotonic() - began < 10


def test_a_body_ends_at_its_maximum_duration_however_fast_it_is() -> None:
    pace = Pace(duration=timedelta(seconds=0.3), bytes_per_second=1, window=WINDOW)
    with pytest.raises(TooSlowError, match="longer"):
        receive(pace, trickle(0.01, bytes(1000), 10_000))


def test_a_server_that_is_slow_to_write_does_not_blame_the_client() -> None:
    pace = Pace(duration=timedelta(minutes=1), bytes_per_second=1_000_000, window=WINDOW)
    assert receive(pace, trickle(0, bytes(1000), 10), handling_seconds=0.1) == 10_000
