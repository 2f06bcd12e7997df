"""Health checks of this process and the workers."""

from typing import Literal

from fastapi import Response
from pydantic import BaseModel
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from vocboard.app.database import Database, server_time
from vocboard.app.jobs import heartbeats
from vocboard.app.messaging import outbox
from vocboard.app.messaging.broker import MAIL, SCORING
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.web.dependencies import DatabaseDep, SettingsDep, StoreDep
from vocboard.app.web.routes import Routes

LIVE_PATH, READY_PATH, METRICS_PATH = "/healthz", "/readyz", "/metrics"
PATHS = frozenset({LIVE_PATH, READY_PATH, METRICS_PATH})

router = Routes()

State = Literal["ok", "failing", "unknown"]


class Readiness(BaseModel):
    """The readiness of this process.

    Attributes:
        status: `failing` if the database or the archives are; else `degraded` if anything is.
        disk: `failing` if the archives' disk has less space than the largest upload needs.
        ground_truth: `failing` if no worker can read all that challenges are scored with; workers log the files.
        mail: `failing` if email is not sent.
        workers: `failing` if a kind of worker does not look for work.

    The last three are `unknown` if the database is unavailable.
    """

    status: Literal["ok", "degraded", "failing"]
    database: State
    archives: State
    disk: State
    ground_truth: State = "unknown"
    mail: State = "unknown"
    workers: State = "unknown"


@router.get(LIVE_PATH)
async def healthz() -> dict[str, str]:
    """Return 200 if the process is running."""
    return {"status": "ok"}


@router.get(READY_PATH)
def readyz(response: Response, database: DatabaseDep, store: StoreDep, settings: SettingsDep) -> Readiness:
    """Return 200 if the database is available and archives can be written, otherwise 503.

    Everything else does not change the status code, because this process can serve pages without it. If a load balancer
    took it out of service, a delay would become an outage.
    """
    checked = check(settings, database, store)
    if checked.status == "failing":
        response.status_code = 503
    return checked


def check(settings: Settings, database: Database, store: ArchiveStore) -> Readiness:
    """Check everything."""
    checked = Readiness(
        status="ok",
        database="ok",
        archives=_state(store.can_write()),
        disk=_state(store.free_bytes() >= settings.upload_limit_bytes),
    )
    try:
        with database.reading() as session:
            _check_workers(session, checked)
    except SQLAlchemyError:
        checked.database = "failing"
    if "failing" in {checked.database, checked.archives}:
        checked.status = "failing"
    elif "failing" in {checked.disk, checked.ground_truth, checked.mail, checked.workers}:
        checked.status = "degraded"
    return checked


def _check_workers(session: Session, checked: Readiness) -> None:
    """Check that a worker of every kind that ran in the last day has recently looked for work, and could do it."""
    last_polls = dict(heartbeats.last_polls(session))
    oldest = server_time(session) - heartbeats.SILENT_AFTER
    readable = last_polls.pop(heartbeats.GROUND_TRUTH, None)
    scoring = last_polls.get(SCORING)
    checked.workers = _state(scoring is not None and all(last >= oldest for last in last_polls.values()))
    if readable is not None and readable >= oldest:
        checked.ground_truth = "ok"
    elif scoring is not None and scoring >= oldest:
        checked.ground_truth = "failing"
    mail = last_polls.get(MAIL)
    checked.mail = _state((mail is None or mail >= oldest) and not outbox.is_stuck(session, since=oldest))


def _state(is_ok: bool) -> State:
    return "ok" if is_ok else "failing"
