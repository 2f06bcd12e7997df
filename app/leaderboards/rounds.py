"""One look at the database for all who ask at the same time."""

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


class Rounds(Generic[Answer]):
    """Looks that each serve everyone who asked before it began, and nobody who asked later.

    So an answer is never older than its question, and of equal questions one look is under way at a time. Belongs to
    one event loop; looks run in threads.
    """

    def __init__(self) -> None:
        self._next: dict[Hashable, asyncio.Task[Answer]] = {}
        self._under_way: dict[Hashable, asyncio.Task[Answer]] = {}

    async def ask(self, question: Hashable, look: Callable[[], Answer]) -> Answer:
        """Return what the next look at this question finds, or raise what it raises.

        Args:
            look: what finds the answer; of equal questions, anyone's will do.
        """
        joined = self._next.get(question)
        if joined is None:
            joined = self._next[question] = asyncio.create_task(self._look(question, look))
        return await asyncio.shield(joined)  # who goes away leaves the others' look alone

    async def _look(self, question: Hashable, look: Callable[[], Answer]) -> Answer:
        if before := self._under_way.get(question):
            await asyncio.wait([before])
        # From here on it is too late to join: a change may be committed that this look does not see.
        self._under_way[question] = self._next.pop(question)
        try:
            return await asyncio.to_thread(look)
        finally:
            if question not in self._next:
                del self._under_way[question]
