"""Heartbeats: when each worker last looked for work."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import delete, func, select, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session

from vocboard.app.database import now
from vocboard.app.jobs.models import WorkerHeartbeat

GROUND_TRUTH = "ground_truth"  # kind of heartbeat: a scoring worker's, while it can read all ground truth
SILENT_AFTER = timedelta(seconds=60)  # a worker without a heartbeat for this long is considered failing
FORGOTTEN_AFTER = timedelta(days=1)  # a worker without a heartbeat for this long is no longer expected


def record(session: Session, *, worker_id: uuid.UUID, host: str, kind: str) -> None:
    """Record that a worker has looked for work now."""
    instant = now()
    known = update(WorkerHeartbeat).where(WorkerHeartbeat.id == worker_id).values(looked_at=instant)
    if cast(CursorResult[Any], session.execute(known)).rowcount == 0:
        session.add(WorkerHeartbeat(id=worker_id, host=host, kind=kind, started_at=instant, looked_at=instant))


def remove(session: Session, *, worker_id: uuid.UUID) -> None:
    """Remove the heartbeat of a stopping worker."""
    session.execute(delete(WorkerHeartbeat).where(WorkerHeartbeat.id == worker_id))


def remove_old(session: Session) -> None:
    """Remove old heartbeats."""
    session.execute(delete(WorkerHeartbeat).where(WorkerHeartbeat.looked_at < now() - FORGOTTEN_AFTER))


def last_polls(session: Session, *, host: str | None = None) -> Mapping[str, datetime]:
    """Return when a worker last looked for work, by kind of worker: on one host, or by default on all hosts."""
    query = select(WorkerHeartbeat.kind, func.max(WorkerHeartbeat.looked_at, type_=WorkerHeartbeat.looked_at.type))
    if host is not None:
        query = query.where(WorkerHeartbeat.host == host)
    return {row[0]: row[1] for row in session.execute(query.group_by(WorkerHeartbeat.kind))}
