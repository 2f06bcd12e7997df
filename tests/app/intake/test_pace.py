"""A body must arrive at a minimum rate and within a time; a slow server is not the client's fault."""

import time
from collections.abc import AsyncIterator
from datetime import timedelta

import anyio
import pytest

from vocboard.app.errors import TooSlowError
from vocboard.app.intake.body import Pace

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
