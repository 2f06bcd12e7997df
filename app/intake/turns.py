"""Decides whose upload is validated next: that of the person for whom least has been done recently.

One upload per person is validated at a time. If there are several slots, the last one is the express slot: only for
small uploads of people and networks with little recent validation time, and for a few seconds. So what takes long waits
for other uploads that take long, with any number of accounts, and small uploads pass.
"""

import time
import uuid
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import anyio

REMEMBERED_FOR = timedelta(minutes=10)  # half-life of validation seconds
LIGHT_SECONDS = 15.0  # recent validation seconds up to which a person may use the express slot
EXPRESS_SECONDS = 3.0  # of processor time, after which the express slot is free for others
# So many people's seconds are allowed to those who share a network, and to all new accounts together.
NETWORK_SHARE, NEW_ACCOUNTS_SHARE = 4, 8
_NEW_ACCOUNTS = "new accounts"


@dataclass(frozen=True, slots=True)
class Uploader:
    """Who uploads.

    Attributes:
        network: of the client, from `app.rate_limits.attempts.network`.
        is_new: whether the account is.
    """

    person: uuid.UUID
    network: str
    is_new: bool = False


@dataclass(eq=False, slots=True)
class _Turn:
    """A slot that is wanted or used."""

    uploader: Uploader
    is_small: bool
    is_express: bool = False
    began_at: float = 0.0
    called: anyio.Event = field(default_factory=anyio.Event)


class FairTurns:
    """A number of slots, assigned fairly to waiting requests.

    Args:
        places: number of slots.
        clock: monotonic seconds.
    """

    def __init__(self, places: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._express_places = 1 if places > 1 else 0
        self._places = places - self._express_places
        self._clock = clock
        self._waiting: list[_Turn] = []  # in order of arrival
        self._taken: list[_Turn] = []
        self._used: dict[Hashable, tuple[float, float]] = {}  # validation seconds, and when they were last updated

    @property
    def taken(self) -> int:
        """Number of slots in use."""
        return len(self._taken)

    @property
    def waiting(self) -> int:
        """Number of waiting uploads."""
        return len(self._waiting)

    @asynccontextmanager
    async def turn(self, uploader: Uploader, *, is_small: bool = True) -> AsyncIterator[bool]:
        """Wait for a slot, and hold it until the block ends.

        Yields:
            Whether it is the express slot, to be left after `EXPRESS_SECONDS`.
        """
        turn = _Turn(uploader, is_small)
        self._waiting.append(turn)
        self._call_next()
        try:
            await turn.called.wait()
            yield turn.is_express
        finally:
            if turn in self._waiting:
                self._waiting.remove(turn)
            else:
                self._taken.remove(turn)
                self._charge(uploader, self._clock() - turn.began_at)
            self._call_next()

    def _call_next(self) -> None:
        while (turn := self._next()) is not None:
            self._waiting.remove(turn)
            self._taken.append(turn)
            turn.began_at = self._clock()
            turn.called.set()

    def _next(self) -> _Turn | None:
        """Return who is next, if there is a slot for any."""
        express = sum(turn.is_express for turn in self._taken)
        is_free, is_express_free = self.taken - express < self._places, express < self._express_places
        people = {turn.uploader.person for turn in self._taken}
        candidates = [turn for turn in self._waiting if turn.uploader.person not in people]
        candidates.sort(key=lambda turn: self._burden(turn.uploader))  # among equals, the first to arrive
        for turn in candidates:
            is_light = turn.is_small and self._own_burden(turn.uploader) <= LIGHT_SECONDS
            if is_free or (is_express_free and is_light):
                turn.is_express = not is_free
                return turn
        return None

    def _burden(self, uploader: Uploader) -> float:
        """Return recent validation seconds: of the person, or the share in those of the network or of new accounts."""
        shared = self._recently(_NEW_ACCOUNTS) / NEW_ACCOUNTS_SHARE if uploader.is_new else 0.0
        return max(self._own_burden(uploader), shared)

    def _own_burden(self, uploader: Uploader) -> float:
        return max(self._recently(uploader.person), self._recently(uploader.network) / NETWORK_SHARE)

    def _charge(self, uploader: Uploader, seconds: float) -> None:
        for who in (uploader.person, uploader.network, *((_NEW_ACCOUNTS,) if uploader.is_new else ())):
            self._used[who] = (self._recently(who) + seconds, self._clock())

    def _recently(self, who: Hashable) -> float:
        """Return the decayed validation seconds; negligible values are deleted."""
        if who not in self._used:
            return 0.0
        seconds, at = self._used[who]
        left = float(seconds * 0.5 ** ((self._clock() - at) / REMEMBERED_FOR.total_seconds()))
        if left < 0.01:
            del self._used[who]
        return left
