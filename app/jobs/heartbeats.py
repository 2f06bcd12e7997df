"""Heartbeats: when each worker last looked for work."""

import socket
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import delete, func, select, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from vocboard.app.database import Database, server_time
from vocboard.app.jobs.models import WorkerHeartbeat

GROUND_TRUTH = "ground_truth"  # kind of heartbeat: a scoring worker's, while it can read all ground truth
INTERVAL = timedelta(seconds=10)
SILENT_AFTER = timedelta(seconds=60)  # a worker without a heartbeat for this long is considered failing
FORGOTTEN_AFTER = timedelta(days=1)  # a worker without a heartbeat for this long is no longer expected


class Heartbeat:
    """The heartbeat of a worker.

    Args:
        kind: kind of worker, for example `scoring`.
    """

    def __init__(self, database: Database, *, kind: str) -> None:
        self._database = database
        self._kind = kind
        self._id = uuid.uuid4()
        self._last = float("-inf")  # time.monotonic()

    def record(self) -> None:
        """Record that the worker has looked for work, unless this was recorded within the last `INTERVAL`.

        Raises:
            SQLAlchemyError: the database is unavailable.
        """
        if time.monotonic() < self._last + INTERVAL.total_seconds():
            return
        new = {"id": self._id, "host": socket.gethostname(), "kind": self._kind}
        with self._database.writing() as session:
            instant = server_time(session)
            known = update(WorkerHeartbeat).where(WorkerHeartbeat.id == self._id).values(looked_at=instant)
            if cast(CursorResult[Any], session.execute(known)).rowcount == 0:
                session.add(WorkerHeartbeat(**new, started_at=instant, looked_at=instant))
        self._last = time.monotonic()

    def stop(self) -> None:
        """Remove the heartbeat, so that health checks do not expect this worker."""
        with suppress(SQLAlchemyError), self._database.writing() as session:
            session.execute(delete(WorkerHeartbeat).where(WorkerHeartbeat.id == self._id))


def remove_old(session: Session) -> None:
    """Remove old heartbeats."""
    session.execute(delete(WorkerHeartbeat).where(WorkerHeartbeat.looked_at < server_time(session) - FORGOTTEN_AFTER))


def remove_all(session: Session) -> None:
    """Remove all heartbeats; workers that run write theirs again."""
    session.execute(delete(WorkerHeartbeat))


def last_polls(session: Session, *, host: str | None = None) -> Mapping[str, datetime]:
    """Return when a worker last looked for work, by kind of worker: on one host, or by default on all hosts."""
    query = select(WorkerHeartbeat.kind, func.max(WorkerHeartbeat.looked_at, type_=WorkerHeartbeat.looked_at.type))
    if host is not None:
        query = query.where(WorkerHeartbeat.host == host)
    return {row[0]: row[1] for row in session.execute(query.group_by(WorkerHeartbeat.kind))}
