"""A thread gets the pieces of a stream in order while more arrives, and has stopped whenever handing on has ended."""

import threading
from collections.abc import AsyncIterator, Callable, Iterable, Sequence

import anyio
import pytest

from vocboard.app.intake.body import BACKLOG_BYTES, BATCH_BYTES, stream_to_thread

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
