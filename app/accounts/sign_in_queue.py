"""Serialises sign-in attempts, so that failures of one are counted before the next is checked."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from vocboard.app.errors import BusyError

MAX_WAITING = 512  # in one web process; a waiting one holds neither a thread nor a database connection
MAX_WAITING_PER_CLIENT = 192  # of these, per network
REFUSAL_PAUSE_SECONDS = 5.0  # delay of rejections, so that retrying at once gains nothing
MAX_PAUSING = 512
RETRY_AFTER_SECONDS = 10


class SignInQueue:
    """The sign-in attempts of one web process, on one event loop."""

    def __init__(
        self,
        *,
        max_waiting: int = MAX_WAITING,
        max_waiting_per_client: int = MAX_WAITING_PER_CLIENT,
        refusal_pause_seconds: float = REFUSAL_PAUSE_SECONDS,
    ) -> None:
        self._max_waiting = max_waiting
        self._max_waiting_per_client = max_waiting_per_client
        self._refusal_pause_seconds = refusal_pause_seconds
        self._clients: Counter[str] = Counter()
        self._lines: dict[str, asyncio.Lock] = {}
        self._in_line: Counter[str] = Counter()
        self._pausing = 0

    @asynccontextmanager
    async def turn(self, line: str, *, client: str) -> AsyncIterator[None]:
        """Wait for earlier attempts in the same queue, and block later ones until the block ends.

        Args:
            line: identifies the queue: attempts from one network at one account.
            client: the network.

        Raises:
            BusyError: too many attempts are waiting, from this network or in total.
        """
        if self._clients[client] >= self._max_waiting_per_client or self._clients.total() >= self._max_waiting:
            await self._pause()
            raise BusyError(
                "Too many people are signing in at the moment. Try again in a few seconds.",
                retry_after=RETRY_AFTER_SECONDS,
            )
        self._clients[client] += 1
        self._in_line[line] += 1
        lock = self._lines.setdefault(line, asyncio.Lock())
        try:
            async with lock:
                yield
        finally:
            _count_down(self._clients, client)
            _count_down(self._in_line, line)
            if line not in self._in_line:
                del self._lines[line]

    async def _pause(self) -> None:
        if self._pausing >= MAX_PAUSING:
            return
        self._pausing += 1
        try:
            await asyncio.sleep(self._refusal_pause_seconds)
        finally:
            self._pausing -= 1


def _count_down(counter: Counter[str], name: str) -> None:
    counter[name] -= 1
    if not counter[name]:
        del counter[name]
