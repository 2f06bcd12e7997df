"""Counts open event streams."""

import uuid
from collections import Counter
from datetime import timedelta

from vocboard.app.database import now
from vocboard.app.errors import LimitedError

MAX_STREAMS = 20  # open at once to one person, in one web process
MAX_QUERIES = 50  # per second, of all streams of one web process: a quarter of a core
INTERVAL, MAX_INTERVAL = timedelta(seconds=1), timedelta(seconds=10)  # between two queries of a stream
PAUSE = timedelta(seconds=10)  # wait after reaching the limit


class OpenStreams:
    """Number of open streams in this process, by user or by network of a visitor."""

    def __init__(self) -> None:
        self._open: Counter[uuid.UUID | str] = Counter()

    def enter(self, subject: uuid.UUID | str) -> None:
        """Count one more stream.

        Raises:
            LimitedError: `MAX_STREAMS` are already open.
        """
        if self._open[subject] >= MAX_STREAMS:
            raise LimitedError(
                f"You are already following {MAX_STREAMS} submissions. Close some of their pages.",
                allowed_at=now() + PAUSE,
            )
        self._open[subject] += 1

    @property
    def interval(self) -> timedelta:
        """Time between two queries of each stream: longer if so many are open that they would slow others down."""
        together = timedelta(seconds=self._open.total() / MAX_QUERIES)
        return min(max(INTERVAL, together), MAX_INTERVAL)

    def leave(self, subject: uuid.UUID | str) -> None:
        """Count one stream less."""
        self._open[subject] -= 1
        if not self._open[subject]:
            del self._open[subject]
