"""Streams that threads read: the next bytes arrive while those before are worked on."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

import anyio
from anyio import to_thread

BATCH_BYTES = 1024 * 1024  # worth a trip to a thread; two batches at most are in memory


async def hand_on(stream: AsyncIterator[bytes], handle: Callable[[Sequence[bytes]], None]) -> None:
    """Give a stream's pieces, in order and in batches, to a function in a thread while what follows is received.

    Whatever ends this, the function runs no longer afterwards. What it raises is raised here.
    """
    batch: list[bytes] = []
    size = 0
    handling: asyncio.Task[None] | None = None
    try:
        async for piece in stream:
            batch.append(piece)
            size += len(piece)
            if size >= BATCH_BYTES:
                if handling is not None:
                    await handling
                handling = asyncio.create_task(to_thread.run_sync(handle, batch))
                batch, size = [], 0
        if handling is not None:
            await handling
        await to_thread.run_sync(handle, batch)
    finally:
        if handling is not None:
            with anyio.CancelScope(shield=True):
                await asyncio.gather(handling, return_exceptions=True)
