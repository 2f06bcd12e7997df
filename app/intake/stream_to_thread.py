"""Passes streams to threads, so that receiving and processing overlap."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator

import anyio
from anyio import to_thread

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
