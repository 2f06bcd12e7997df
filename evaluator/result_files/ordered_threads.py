"""A thread pool that returns results in the order of submission."""

import os
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

_Result = TypeVar("_Result")

_MAX_THREADS = 4
_BUNDLE = 8  # items per batch: passing a batch to a thread takes tens of microseconds
_BUNDLE_BYTES = 1024 * 1024
_BUNDLES_PER_THREAD = 2  # of waiting work; limits memory


class OrderedThreadPool(Generic[_Result]):
    """Threads for work that releases the interpreter lock, such as decompression."""

    def __init__(self, take: Callable[[_Result], None]):
        """`take` is called with each result, in order, in the thread that calls `add` and `finish`."""
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  # slow to import, and few uploads need it

        self._take = take
        self._threads = min(os.cpu_count() or 1, _MAX_THREADS)
        self._pool = ThreadPoolExecutor(self._threads)
        self._bundle: list[Callable[[], _Result]] = []
        self._bundle_bytes = 0
        self._waiting: deque[Future[list[_Result]]] = deque()

    def add(self, work: Callable[[], _Result], held_bytes: int = 0) -> None:
        """Submit work that uses a number of bytes in memory; wait if too much is queued.

        Raises what earlier work raised.
        """
        self._bundle.append(work)
        self._bundle_bytes += held_bytes
        if len(self._bundle) < _BUNDLE and self._bundle_bytes < _BUNDLE_BYTES:
            return
        self._hand_over()
        while self._waiting and (self._waiting[0].done() or len(self._waiting) > self._threads * _BUNDLES_PER_THREAD):
            self._take_first()

    def finish(self) -> None:
        """Wait for all work. Raises its exceptions."""
        if self._bundle:
            self._hand_over()
        while self._waiting:
            self._take_first()

    def _hand_over(self) -> None:
        bundle, self._bundle, self._bundle_bytes = self._bundle, [], 0
        self._waiting.append(self._pool.submit(lambda: [work() for work in bundle]))

    def _take_first(self) -> None:
        for result in self._waiting.popleft().result():
            self._take(result)
