"""Minimum rate and maximum duration of a request body."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import anyio

from vocboard.app.errors import TooSlowError

RATE_WINDOW = timedelta(seconds=20)  # shorter pauses are allowed


class Pace:
    """Monitors the arrival of a body.

    Only time spent waiting for the client counts, so slow writes of the server do not matter.

    Attributes:
        received: bytes so far.
        bytes_per_second: the minimum rate, which can change; of a window, the lower one of its start and end counts.

    Args of the constructor:
        spent_seconds: of the duration, by earlier parts of the body.
    """

    def __init__(
        self,
        *,
        duration: timedelta,
        bytes_per_second: int,
        window: timedelta = RATE_WINDOW,
        spent_seconds: float = 0.0,
    ) -> None:
        self.received = 0
        self._duration = duration
        self._spent_seconds = spent_seconds
        self.bytes_per_second = bytes_per_second
        self._usual_rate = bytes_per_second
        self._window_seconds = window.total_seconds()
        self._waited = 0.0
        self._waiting_since: float | None = None
        self._error: TooSlowError | None = None

    async def stream(self, body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Yield the body's chunks, and count their bytes."""
        while True:
            self._waiting_since = time.monotonic()
            piece = await anext(body, None)
            self._waited += time.monotonic() - self._waiting_since
            self._waiting_since = None
            if piece is None:
                return
            self.received += len(piece)
            yield piece

    @asynccontextmanager
    async def enforced(self) -> AsyncIterator[None]:
        """Cancel the block when the body is too slow.

        Raises:
            TooSlowError: instead of the cancellation.
        """
        with anyio.CancelScope() as scope:
            watcher = asyncio.create_task(self._watch(scope))
            try:
                yield
            finally:
                watcher.cancel()
        if self._error is not None:
            raise self._error

    async def _watch(self, scope: anyio.CancelScope) -> None:
        ends_at = time.monotonic() + self._duration.total_seconds() - self._spent_seconds
        window_began, bytes_before, before = 0.0, 0, self.bytes_per_second  # in seconds of waiting
        while self._error is None:
            left = ends_at - time.monotonic()
            await asyncio.sleep(max(0.0, min(left, self._window_seconds / 4)))
            waited = self.waited_seconds
            if time.monotonic() >= ends_at:
                minutes = self._duration.total_seconds() / 60
                self._error = TooSlowError(f"The upload took longer than the {minutes:g} minutes that are allowed.")
            elif waited - window_began >= self._window_seconds:
                rate = min(before, self.bytes_per_second)
                if self.received - bytes_before < rate * (waited - window_began):
                    raised = " while many people upload" if rate > self._usual_rate else ""
                    minimum = f"{rate:,} bytes per second, the required minimum{raised}"
                    self._error = TooSlowError(f"The upload was slower than {minimum}.")
                window_began, bytes_before, before = waited, self.received, self.bytes_per_second
        scope.cancel()

    @property
    def waited_seconds(self) -> float:
        """Time spent waiting for the client so far."""
        since = self._waiting_since
        return self._waited + (0.0 if since is None else time.monotonic() - since)
