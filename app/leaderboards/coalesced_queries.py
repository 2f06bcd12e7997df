"""Coalesces concurrent queries: requests that wait for the same query share one run of it."""

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


class CoalescedQueries(Generic[Answer]):
    """Runs queries in threads; at most one run per key is under way at a time.

    A request that arrives during a run waits for the next run, together with all others that arrive until then. So no
    answer is older than the request. Use an object in one event loop only.
    """

    def __init__(self) -> None:
        self._next: dict[Hashable, asyncio.Task[Answer]] = {}
        self._running: dict[Hashable, asyncio.Task[Answer]] = {}

    async def run(self, key: Hashable, query: Callable[[], Answer]) -> Answer:
        """Return the result of the next run of a query, or raise its exception.

        Args:
            key: identifies the query; the `query` of any request with this key may be the one that is run.
            query: blocks; called in a thread.
        """
        task = self._next.get(key)
        if task is None:
            task = self._next[key] = asyncio.create_task(self._run(key, query))
        return await asyncio.shield(task)  # cancelling one request must not cancel the others' query

    async def _run(self, key: Hashable, query: Callable[[], Answer]) -> Answer:
        if previous := self._running.get(key):
            await asyncio.wait([previous])
        # No request can join from here on: the query may miss what is committed after it has begun.
        self._running[key] = self._next.pop(key)
        try:
            return await asyncio.to_thread(query)
        finally:
            if key not in self._next:
                del self._running[key]
