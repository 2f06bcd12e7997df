"""Streams that threads read: the next bytes arrive while those before are worked on."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator

import anyio
from anyio import to_thread

BATCH_BYTES = 1024 * 1024  # worth a trip to a thread
BACKLOG_BYTES = 8 * BATCH_BYTES  # of one stream, in memory at most


async def stream_to_thread(stream: AsyncIterator[bytes], handle: Callable[[Iterable[bytes]], None]) -> None:
    """Give a stream's pieces, in order, to a function in a thread while what follows is received.

    The function is called whenever a batch has arrived, and its pieces go on as long as there are more: a fast stream
    keeps one thread busy, without waking it for each batch, and a slow one holds none. Whatever ends this, the function
    runs no longer afterwards. What it raises is raised here.
    """
    backlog = _Backlog()
    handling: asyncio.Task[None] | None = None
    try:
        async for piece in stream:
            backlog.add(piece)
            if handling is not None and handling.done():
                await handling
                handling = None
            if handling is None and backlog.size >= BATCH_BYTES:
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
    """Pieces between the event loop, which adds, and a thread, which takes; each counts on its own, without a lock."""

    def __init__(self) -> None:
        self._pieces: deque[bytes] = deque()
        self._added_bytes = self._taken_bytes = 0
        self._loop = asyncio.get_running_loop()
        self._may_go_on = asyncio.Event()

    @property
    def size(self) -> int:
        """Bytes that wait or are being handled."""
        return self._added_bytes - self._taken_bytes

    def add(self, piece: bytes) -> None:
        """Append to it; in the event loop."""
        self._pieces.append(piece)
        self._added_bytes += len(piece)

    def taken(self) -> Iterator[bytes]:
        """Take pieces until there are no more; in a thread."""
        while self._pieces:
            was_full = self.size > BACKLOG_BYTES // 2
            piece = self._pieces.popleft()
            yield piece
            self._taken_bytes += len(piece)
            if was_full and self.size <= BACKLOG_BYTES // 2:
                self._loop.call_soon_threadsafe(self.stop_waiting)

    async def half_empty(self) -> None:
        """Wait until half of it is free, or its thread has ended; in the event loop."""
        self._may_go_on.clear()
        await self._may_go_on.wait()

    def stop_waiting(self, _ended: object = None) -> None:
        """Let the event loop add again."""
        self._may_go_on.set()
