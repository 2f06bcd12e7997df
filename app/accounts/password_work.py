"""Argon2 with bounded concurrency: hashing takes turns, fairly between clients, and holds nothing while it waits.

A hash takes 0.1 s of a processor and 64 MiB. So few threads of their own do it, at a low priority: pages of other
people go first. A request that waits for its turn holds neither a thread nor a connection to the database.
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
NICENESS = 10
RETRY_AFTER_SECONDS = 5

Result = TypeVar("Result")


class PasswordWork:
    """Hashes and checks passwords for the requests of one web process, on one event loop."""

    def __init__(self, *, at_once: int = AT_ONCE, most_waiting: int = MOST_WAITING) -> None:
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="password", initializer=_step_back)
        self._free = at_once
        self._most_waiting = most_waiting
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = (
            OrderedDict()
        )  # by client, whose turn it is first

    async def hashed(self, password: str, *, client: str) -> str:
        """Return a password's hash.

        Args:
            client: the network that the request comes from; those of one network wait for each other.

        Raises:
            BusyError: too many requests wait.
        """
        return await self._run(client, partial(passwords.hashed, password))

    async def matches(self, password: str, password_hash: str | None, *, client: str) -> bool:
        """Whether the password is the hash's; with no hash always False, after the same work.

        Raises:
            BusyError: too many requests wait.
        """
        return await self._run(client, partial(passwords.matches, password, password_hash))

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, client: str, work: Callable[[], Result]) -> Result:
        await self._take_turn(client)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._give_turn()

    async def _take_turn(self, client: str) -> None:
        if self._free:
            self._free -= 1
            return
        if sum(map(len, self._waiting.values())) >= self._most_waiting:
            raise BusyError(
                "Too many people are signing in just now. Try again in a few seconds.", retry_after=RETRY_AFTER_SECONDS
            )
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_turn()  # it was ours already
            raise

    def _give_turn(self) -> None:
        """Let the next client's first request go on; a client that has more of them goes to the end of the line."""
        while self._waiting:
            client, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._waiting[client] = turns
            if not turn.cancelled():
                turn.set_result(None)
                return
        self._free += 1


def _step_back() -> None:
    """Lower this thread's priority, where the system has one for each thread."""
    with suppress(AttributeError, OSError):  # Linux alone takes a thread's id here
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
