"""Request bodies: minimum rate and maximum duration, and processing in threads while the body arrives."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta

import anyio
from anyio import to_thread

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


BATCH_BYTES = 1024 * 1024  # batch size for a thread
BACKLOG_BYTES = 8 * BATCH_BYTES  # maximum bytes of one stream in memory


async def stream_to_thread(
    stream: AsyncIterator[bytes], handle: Callable[[Iterable[bytes]], None], *, batch_bytes: int = BATCH_BYTES
) -> None:
    """Pass a stream's chunks, in order, to a function in a thread, while the next chunks are received.

    The function is called when a batch has arrived, and consumes chunks while there are more. So a fast stream keeps
    one thread busy without waking it for each batch, and a slow stream holds no thread. The function never runs after
    this coroutine has ended. Its exceptions are raised here.

    Args:
        batch_bytes: how many bytes are at most lost if this is cancelled while the function waits for a batch.
    """
    backlog = _Backlog()
    handling: asyncio.Task[None] | None = None
    try:
        async for piece in stream:
            backlog.add(piece)
            if handling is not None and handling.done():
                await handling
                handling = None
            if handling is None and backlog.size >= batch_bytes:
                handling = asyncio.create_task(to_thread.run_sync(handle, backlog.taken()))
                handling.add_done_callback(backlog.stop_waiting)
            if backlog.size >= BACKLOG_BYTES:
                await backlog.half_empty()
        if handling is not None:
            await handling
        await to_thread.run_sync(handle, backlog.taken())
    finally:
        if handling is not None:
            with anyio.CancelScope(shield=True):
                await asyncio.gather(handling, return_exceptions=True)


class _Backlog:
    """A lock-free buffer between the event loop, which adds chunks, and a thread, which removes them."""

    def __init__(self) -> None:
        self._pieces: deque[bytes] = deque()
        self._added_bytes = self._taken_bytes = 0
        self._loop = asyncio.get_running_loop()
        self._may_go_on = asyncio.Event()

    @property
    def size(self) -> int:
        """Number of bytes that are buffered or being processed."""
        return self._added_bytes - self._taken_bytes

    def add(self, piece: bytes) -> None:
        """Add a chunk. Called in the event loop."""
        self._pieces.append(piece)
        self._added_bytes += len(piece)

    def taken(self) -> Iterator[bytes]:
        """Yield chunks until the buffer is empty. Called in a thread."""
        while self._pieces:
            was_full = self.size > BACKLOG_BYTES // 2
            piece = self._pieces.popleft()
            yield piece
            self._taken_bytes += len(piece)
            if was_full and self.size <= BACKLOG_BYTES // 2:
                self._loop.call_soon_threadsafe(self.stop_waiting)

    async def half_empty(self) -> None:
        """Wait until half of the buffer is free, or its thread has ended. Called in the event loop."""
        self._may_go_on.clear()
        await self._may_go_on.wait()

    def stop_waiting(self, _ended: object = None) -> None:
        """Wake the event loop."""
        self._may_go_on.set()
