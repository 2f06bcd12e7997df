"""How many streams of events each person has open."""

import uuid
from collections import Counter
from datetime import timedelta

from vocboard.app.database import now
from vocboard.app.errors import LimitedError

MOST_STREAMS = 20  # open at once to one person, in one web process: each of them costs a query a second
PAUSE = timedelta(seconds=10)  # before somebody who has so many may ask for another


class OpenStreams:
    """How many streams each person, or visitor's network, has open in this process."""

    def __init__(self) -> None:
        self._open: Counter[uuid.UUID | str] = Counter()

    def enter(self, subject: uuid.UUID | str) -> None:
        """Count one more.

        Raises:
            LimitedError: there are `MOST_STREAMS` already.
        """
        if self._open[subject] >= MOST_STREAMS:
            raise LimitedError(
                f"You follow {MOST_STREAMS} submissions already. Close some of the pages that show them.",
                allowed_at=now() + PAUSE,
            )
        self._open[subject] += 1

    def leave(self, subject: uuid.UUID | str) -> None:
        """Count one less."""
        self._open[subject] -= 1
        if not self._open[subject]:
            del self._open[subject]
