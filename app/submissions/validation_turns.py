"""Decides whose upload is validated next: the person with the least recent validation time.

One upload per person is validated at a time. If there are several slots, the last one is reserved for people with
little recent validation time, so that somebody who keeps the other slots busy, with any number of accounts, does not
block everyone else.
"""

import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import anyio

REMEMBERED_FOR = timedelta(minutes=10)  # half-life of validation seconds
LIGHT_SECONDS = 15.0  # validation seconds up to which a person may use the last slot


@dataclass(eq=False, slots=True)
class _Waiting:
    """A queued request for a slot."""

    owner: uuid.UUID
    called: anyio.Event = field(default_factory=anyio.Event)


class FairTurns:
    """A number of slots, assigned fairly to waiting requests.

    Args:
        places: number of slots.
        clock: monotonic seconds.
    """

    def __init__(self, places: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._places = places
        self._clock = clock
        self._waiting: list[_Waiting] = []  # in order of arrival
        self._taking: dict[uuid.UUID, float] = {}  # persons with a slot, and since when
        self._used: dict[uuid.UUID, tuple[float, float]] = {}  # validation seconds, and when they were last updated

    @property
    def taken(self) -> int:
        """Number of slots in use."""
        return len(self._taking)

    @property
    def waiting(self) -> int:
        """Number of waiting uploads."""
        return len(self._waiting)

    @asynccontextmanager
    async def turn(self, owner: uuid.UUID) -> AsyncIterator[None]:
        """Wait for a slot for this person, and hold it until the block ends."""
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
        best = min(candidates, key=lambda one: self._recently(one.owner))  # among equals, the first to arrive
        is_last = free == 1 and self._places > 1
        return None if is_last and self._recently(best.owner) > LIGHT_SECONDS else best

    def _recently(self, owner: uuid.UUID) -> float:
        """Return the decayed validation seconds of a person; negligible values are deleted."""
        if owner not in self._used:
            return 0.0
        seconds, at = self._used[owner]
        left = float(seconds * 0.5 ** ((self._clock() - at) / REMEMBERED_FOR.total_seconds()))
        if left < 0.01:
            del self._used[owner]
        return left
