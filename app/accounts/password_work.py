"""Argon2 with limited concurrency and fair scheduling between clients.

A hash takes about 20 ms of processor time and 19 MiB. A few dedicated threads with low priority compute hashes, so that
other requests are not delayed. A waiting request holds neither a thread nor a database connection.

Clients with recent failures wait in a separate queue, and the two queues alternate. So even if many networks try
passwords, a new client only waits for few of them.
"""

import asyncio
import os
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar

from vocboard.app.accounts import passwords
from vocboard.app.errors import BusyError

AT_ONCE = 1  # in one web process
MAX_WAITING = 256  # in one web process; further requests are rejected
NICENESS = 5  # relative to the process
RETRY_AFTER_SECONDS = 5

Result = TypeVar("Result")


class PasswordWork:
    """Hashes and verifies passwords for the requests of one web process, on one event loop."""

    def __init__(self, *, at_once: int = AT_ONCE, max_waiting: int = MAX_WAITING) -> None:
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="password", initializer=_lower_priority)
        self._free = at_once
        self._max_waiting = max_waiting
        self._queues = (_FairQueue(), _FairQueue())  # clients without recent failures, and the others
        self._next_queue = 0

    async def hashed(self, password: str, *, client: str) -> str:
        """Return a password's hash.

        Args:
            client: the network of the request; requests from one network are queued one after the other.

        Raises:
            BusyError: too many requests are waiting.
        """
        return await self._run(client, partial(passwords.hashed, password), has_failed=False)

    async def matches(self, password: str, password_hash: str | None, *, client: str, has_failed: bool = False) -> bool:
        """Whether the password matches the hash; False without a hash, after the same amount of work.

        Args:
            has_failed: whether the client has recently sent wrong passwords.

        Raises:
            BusyError: too many requests are waiting.
        """
        return await self._run(client, partial(passwords.matches, password, password_hash), has_failed=has_failed)

    def close(self) -> None:
        """Stop the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, client: str, work: Callable[[], Result], *, has_failed: bool) -> Result:
        await self._take_turn(client, self._queues[has_failed])
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._give_turn()

    async def _take_turn(self, client: str, queue: "_FairQueue") -> None:
        if self._free:
            self._free -= 1
            return
        if sum(map(len, self._queues)) >= self._max_waiting:
            raise BusyError(
                "Too many people are signing in at the moment. Try again in a few seconds.",
                retry_after=RETRY_AFTER_SECONDS,
            )
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.add(client, turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_turn()  # the slot was already assigned
            raise

    def _give_turn(self) -> None:
        """Assign the slot to the next request: from the queue whose turn it is, or from the other if it is empty."""
        for number in (self._next_queue, 1 - self._next_queue):
            turn = self._queues[number].pop()
            if turn is not None:
                self._next_queue = 1 - number
                turn.set_result(None)
                return
        self._free += 1


class _FairQueue:
    """A queue of requests that serves clients in turn."""

    def __init__(self) -> None:
        self._turns: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, self._turns.values()))

    def add(self, client: str, turn: asyncio.Future[None]) -> None:
        self._turns.setdefault(client, deque()).append(turn)

    def pop(self) -> asyncio.Future[None] | None:
        """Remove and return the next request that is still waiting; None if there is none."""
        while self._turns:
            client, turns = self._turns.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._turns[client] = turns
            if not turn.cancelled():
                return turn
        return None


def _lower_priority() -> None:
    """Lower this thread's priority, on systems with priorities per thread."""
    with suppress(AttributeError, OSError):  # only Linux accepts a thread id here
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + NICENESS)
