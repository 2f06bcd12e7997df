"""Argon2 with bounded concurrency: hashing takes turns, fairly between clients, and holds nothing while it waits.

A hash takes some 20 ms of a processor and 19 MiB. So few threads of their own do it, at a low priority: pages of other
people go first. A request that waits for its turn holds neither a thread nor a connection to the database.

Clients that have failed lately wait in a line of their own, and the two lines take turns: however many networks try
passwords, somebody who comes anew waits for few of them.
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
MOST_WAITING = 256  # in one web process; beyond it requests are refused
NICENESS = 5  # beyond the process's own
RETRY_AFTER_SECONDS = 5

Result = TypeVar("Result")


class PasswordWork:
    """Hashes and checks passwords for the requests of one web process, on one event loop."""

    def __init__(self, *, at_once: int = AT_ONCE, most_waiting: int = MOST_WAITING) -> None:
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="password", initializer=_step_back)
        self._free = at_once
        self._most_waiting = most_waiting
        self._lines = (_Line(), _Line())  # of clients without recent failures, and of the others
        self._next_line = 0

    async def hashed(self, password: str, *, client: str) -> str:
        """Return a password's hash.

        Args:
            client: the network that the request comes from; those of one network wait for each other.

        Raises:
            BusyError: too many requests wait.
        """
        return await self._run(client, partial(passwords.hashed, password), has_failed=False)

    async def matches(self, password: str, password_hash: str | None, *, client: str, has_failed: bool = False) -> bool:
        """Whether the password is the hash's; with no hash always False, after the same work.

        Args:
            has_failed: whether the client has given wrong passwords lately.

        Raises:
            BusyError: too many requests wait.
        """
        return await self._run(client, partial(passwords.matches, password, password_hash), has_failed=has_failed)

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, client: str, work: Callable[[], Result], *, has_failed: bool) -> Result:
        await self._take_turn(client, self._lines[has_failed])
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._give_turn()

    async def _take_turn(self, client: str, line: "_Line") -> None:
        if self._free:
            self._free -= 1
            return
        if sum(map(len, self._lines)) >= self._most_waiting:
            raise BusyError(
                "Too many people are signing in at the moment. Try again in a few seconds.",
                retry_after=RETRY_AFTER_SECONDS,
            )
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line.add(client, turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_turn()  # it was ours already
            raise

    def _give_turn(self) -> None:
        """Let the next one go on: of the line whose turn it is, or of the other one if nobody waits in it."""
        for number in (self._next_line, 1 - self._next_line):
            turn = self._lines[number].pop()
            if turn is not None:
                self._next_line = 1 - number
                turn.set_result(None)
                return
        self._free += 1


class _Line:
    """Requests that wait, by client: a client that has more of them goes to the end after each."""

    def __init__(self) -> None:
        self._turns: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, self._turns.values()))

    def add(self, client: str, turn: asyncio.Future[None]) -> None:
        self._turns.setdefault(client, deque()).append(turn)

    def pop(self) -> asyncio.Future[None] | None:
        """Take the next one that still waits; None if there is none."""
        while self._turns:
            client, turns = self._turns.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._turns[client] = turns
            if not turn.cancelled():
                return turn
        return None


def _step_back() -> None:
    """Lower this thread's priority, where the system has one for each thread."""
    with suppress(AttributeError, OSError):  # Linux alone takes a thread's id here
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + NICENESS)
