"""When each worker last looked for work, so that others notice one that does not."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import delete, func, select, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session

from vocboard.app.database import now
from vocboard.app.workers.models import WorkerHeartbeat

SILENT_AFTER = timedelta(seconds=60)  # then a worker is missed
FORGOTTEN_AFTER = timedelta(days=1)  # then nobody waits for it any more


def record(session: Session, *, worker_id: uuid.UUID, host: str, kind: str) -> None:
    """Note that a worker has looked for work now."""
    instant = now()
    known = update(WorkerHeartbeat).where(WorkerHeartbeat.id == worker_id).values(looked_at=instant)
    if cast(CursorResult[Any], session.execute(known)).rowcount == 0:
        session.add(WorkerHeartbeat(id=worker_id, host=host, kind=kind, started_at=instant, looked_at=instant))


def remove(session: Session, *, worker_id: uuid.UUID) -> None:
    """Forget a worker that stops."""
    session.execute(delete(WorkerHeartbeat).where(WorkerHeartbeat.id == worker_id))


def remove_old(session: Session) -> None:
    """Forget workers that have been silent for long."""
    session.execute(delete(WorkerHeartbeat).where(WorkerHeartbeat.looked_at < now() - FORGOTTEN_AFTER))


def last_looks(session: Session, *, host: str | None = None) -> Mapping[str, datetime]:
    """When a worker last looked for work, by kind of worker: those of one host, by default of all hosts."""
    query = select(WorkerHeartbeat.kind, func.max(WorkerHeartbeat.looked_at, type_=WorkerHeartbeat.looked_at.type))
    if host is not None:
        query = query.where(WorkerHeartbeat.host == host)
    return {row[0]: row[1] for row in session.execute(query.group_by(WorkerHeartbeat.kind))}
