"""Whose upload is checked next: the person's for whom least has been done lately.

Of one person one upload is checked at a time. Where there are several places, one of them is for people for whom little
has been done lately: whoever keeps all others busy, with however many accounts, does not make the rest wait.
"""

import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import anyio

REMEMBERED_FOR = timedelta(minutes=10)  # seconds of checking fade away by half in this time
LIGHT_SECONDS = 15.0  # of checking, up to which a person may take the last place


@dataclass(eq=False, slots=True)
class _Waiting:
    """Somebody who waits for a turn."""

    owner: uuid.UUID
    called: anyio.Event = field(default_factory=anyio.Event)


class FairTurns:
    """So many places, given to those who wait.

    Args:
        places: how many have a turn at once.
        clock: seconds that only go forward.
    """

    def __init__(self, places: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._places = places
        self._clock = clock
        self._waiting: list[_Waiting] = []  # in the order in which they came
        self._taking: dict[uuid.UUID, float] = {}  # who has a turn, and since when
        self._ahead = 0  # places that are taken without a person
        self._used: dict[uuid.UUID, tuple[float, float]] = {}  # seconds of checking, and when they were added up

    @property
    def taken(self) -> int:
        """How many places are taken."""
        return len(self._taking) + self._ahead

    @property
    def waiting(self) -> int:
        """How many uploads wait."""
        return len(self._waiting)

    @asynccontextmanager
    async def turn(self, owner: uuid.UUID) -> AsyncIterator[None]:
        """Wait for a turn of this person, and have it until the block ends."""
        waiting = _Waiting(owner)
        self._waiting.append(waiting)
        self._call_next()
        try:
            await waiting.called.wait()
            yield
        finally:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            else:
                seconds = self._clock() - self._taking.pop(owner)
                self._used[owner] = (self._recently(owner) + seconds, self._clock())
            self._call_next()

    @asynccontextmanager
    async def free_place(self) -> AsyncIterator[bool]:
        """Take a place that is free, without waiting; False if there is none."""
        if self.taken >= self._places:
            yield False
            return
        self._ahead += 1
        try:
            yield True
        finally:
            self._ahead -= 1
            self._call_next()

    def _call_next(self) -> None:
        while (waiting := self._next()) is not None:
            self._waiting.remove(waiting)
            self._taking[waiting.owner] = self._clock()
            waiting.called.set()

    def _next(self) -> _Waiting | None:
        free = self._places - self.taken
        candidates = [one for one in self._waiting if one.owner not in self._taking]
        if free <= 0 or not candidates:
            return None
        best = min(candidates, key=lambda one: self._recently(one.owner))  # of equals, who came first
        is_last = free == 1 and self._places > 1
        return None if is_last and self._recently(best.owner) > LIGHT_SECONDS else best

    def _recently(self, owner: uuid.UUID) -> float:
        """Seconds of checking, those of long ago faded; what has faded is forgotten."""
        if owner not in self._used:
            return 0.0
        seconds, at = self._used[owner]
        left = float(seconds * 0.5 ** ((self._clock() - at) / REMEMBERED_FOR.total_seconds()))
        if left < 0.01:
            del self._used[owner]
        return left
