"""Whether this process lives, and whether it and the workers can do their work."""

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
    """What this process needs, part by part.

    Attributes:
        status: `degraded` if a kind of worker does not look for work: uploads wait, or e-mail is not sent.
        workers: `unknown` if the database cannot be asked.
    """

    status: Literal["ok", "degraded", "failing"]
    database: State
    archives: State
    workers: State


@router.get(LIVE_PATH)
async def healthz() -> dict[str, str]:
    """That the process answers at all."""
    return {"status": "ok"}


@router.get(READY_PATH)
def readyz(response: Response, database: DatabaseDep, store: StoreDep) -> Readiness:
    """Whether the database answers and archives can be written: 503 if not. Says nothing more to strangers.

    Workers that do not work are told of with 200: this process serves pages and takes uploads without them. A load
    balancer that took it out of service would turn a delay into an outage.
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
    """Whether, of every kind that has run in the last day, one has looked for work just now."""
    with database.reading() as session:
        last_looks = heartbeats.last_looks(session)
    oldest = now() - heartbeats.SILENT_AFTER
    return "ok" if SCORING in last_looks and all(last >= oldest for last in last_looks.values()) else "failing"
