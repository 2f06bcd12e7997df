"""Heartbeats of a worker, for health checks and `/readyz`."""

import socket
import threading
import time
import uuid
from contextlib import suppress
from datetime import timedelta

from sqlalchemy.exc import SQLAlchemyError

from vocboard.app.database import Database
from vocboard.app.jobs import heartbeats

INTERVAL = timedelta(seconds=10)


class Heartbeat:
    """The heartbeat of a worker; thread-safe.

    Args:
        kind: kind of worker, for example `scoring`.
    """

    def __init__(self, database: Database, *, kind: str) -> None:
        self._database = database
        self._kind = kind
        self._id = uuid.uuid4()
        self._lock = threading.Lock()
        self._last = float("-inf")  # time.monotonic()
        self._stopped = self._paused = False

    def record(self) -> None:
        """Record that the worker has looked for work, unless this was recorded within the last `INTERVAL`.

        Raises:
            SQLAlchemyError: the database is unavailable.
        """
        with self._lock:
            if self._stopped or self._paused or time.monotonic() < self._last + INTERVAL.total_seconds():
                return
            with self._database.writing() as session:
                heartbeats.record(session, worker_id=self._id, host=socket.gethostname(), kind=self._kind)
            self._last = time.monotonic()

    def pause(self) -> None:
        """Record nothing until `resume`: the worker runs, but cannot do its work."""
        self._paused = True

    def resume(self) -> None:
        """Record again."""
        self._paused = False

    def stop(self) -> None:
        """Remove the heartbeat, so that health checks do not expect this worker."""
        with self._lock:
            self._stopped = True
            with suppress(SQLAlchemyError), self._database.writing() as session:
                heartbeats.remove(session, worker_id=self._id)
