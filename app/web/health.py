"""Health checks of this process and the workers."""

from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel
from sqlalchemy.exc import SQLAlchemyError

from vocboard.app.database import Database, now
from vocboard.app.messaging.broker import SCORING
from vocboard.app.web.dependencies import DatabaseDep, StoreDep
from vocboard.app.workers import heartbeats

LIVE_PATH, READY_PATH = "/healthz", "/readyz"
PATHS = frozenset({LIVE_PATH, READY_PATH})

router = APIRouter(include_in_schema=False)

State = Literal["ok", "failing", "unknown"]


class Readiness(BaseModel):
    """The readiness of this process.

    Attributes:
        status: `degraded` if a kind of worker does not look for work, so that submissions stay queued or email is not
            sent.
        workers: `unknown` if the database is unavailable.
    """

    status: Literal["ok", "degraded", "failing"]
    database: State
    archives: State
    workers: State


@router.get(LIVE_PATH)
async def healthz() -> dict[str, str]:
    """Return 200 if the process is running."""
    return {"status": "ok"}


@router.get(READY_PATH)
def readyz(response: Response, database: DatabaseDep, store: StoreDep) -> Readiness:
    """Return 200 if the database is available and archives can be written, otherwise 503.

    Missing workers do not change the status code, because this process can serve pages and accept uploads without them.
    If a load balancer took it out of service, a delay would become an outage.
    """
    archives: State = "ok" if store.can_write() else "failing"
    try:
        workers = _workers(database)
        database_state: State = "ok"
    except SQLAlchemyError:
        workers, database_state = "unknown", "failing"
    if "failing" in {database_state, archives}:
        response.status_code = 503
        return Readiness(status="failing", database=database_state, archives=archives, workers=workers)
    status: Literal["ok", "degraded"] = "ok" if workers == "ok" else "degraded"
    return Readiness(status=status, database=database_state, archives=archives, workers=workers)


def _workers(database: Database) -> State:
    """Whether a worker of every kind that ran in the last day has recently looked for work."""
    with database.reading() as session:
        last_polls = heartbeats.last_polls(session)
    oldest = now() - heartbeats.SILENT_AFTER
    return "ok" if SCORING in last_polls and all(last >= oldest for last in last_polls.values()) else "failing"
