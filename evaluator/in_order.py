"""Work on several threads whose results come in the order in which the work went."""

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

_Result = TypeVar("_Result")

_MOST_THREADS = 4
_WAITING_PER_THREAD = 4  # bounds what is held in memory


class InOrder(Generic[_Result]):
    """Threads for work that leaves Python's interpreter alone, such as decompression."""

    def __init__(self, take: Callable[[_Result], None]):
        """`take` gets each result, in the order of the work and in the thread that calls `add` and `finish`."""
        self._take = take
        self._threads = min(os.cpu_count() or 1, _MOST_THREADS)
        self._pool = ThreadPoolExecutor(self._threads)
        self._waiting: deque[Future[_Result]] = deque()

    def add(self, work: Callable[[], _Result]) -> None:
        """Have some work done; wait if much is waiting already. Raises what earlier work raised."""
        self._waiting.append(self._pool.submit(work))
        while self._waiting and (self._waiting[0].done() or len(self._waiting) > self._threads * _WAITING_PER_THREAD):
            self._take(self._waiting.popleft().result())

    def finish(self) -> None:
        """Wait for all that was added. Raises what it raised."""
        while self._waiting:
            self._take(self._waiting.popleft().result())
