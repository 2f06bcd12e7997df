"""A worker's word that it looks for work, in the table that health checks and `/readyz` read."""

import socket
import threading
import time
import uuid
from contextlib import suppress
from datetime import timedelta

from sqlalchemy.exc import SQLAlchemyError

from vocboard.app.database import Database
from vocboard.app.workers import heartbeats

INTERVAL = timedelta(seconds=10)


class Heartbeat:
    """That of one run of one worker; several threads may call it.

    Args:
        kind: of worker, such as `scoring`.
    """

    def __init__(self, database: Database, *, kind: str) -> None:
        self._database = database
        self._kind = kind
        self._id = uuid.uuid4()
        self._lock = threading.Lock()
        self._last = float("-inf")  # time.monotonic()
        self._stopped = False

    def record(self) -> None:
        """Note that the worker has looked for work now, unless that was noted within the last `INTERVAL`.

        Raises:
            SQLAlchemyError: the database cannot be used.
        """
        with self._lock:
            if self._stopped or time.monotonic() < self._last + INTERVAL.total_seconds():
                return
            with self._database.writing() as session:
                heartbeats.record(session, worker_id=self._id, host=socket.gethostname(), kind=self._kind)
            self._last = time.monotonic()

    def stop(self) -> None:
        """Record no more, so that nobody misses a worker that stops in order."""
        with self._lock:
            self._stopped = True
            with suppress(SQLAlchemyError), self._database.writing() as session:
                heartbeats.remove(session, worker_id=self._id)
