"""Whether this process lives, and whether it can do its work."""

import os
from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.database import Database
from app.settings import Settings

LIVE_PATH, READY_PATH = "/healthz", "/readyz"
PATHS = frozenset({LIVE_PATH, READY_PATH})

router = APIRouter(include_in_schema=False)


class Readiness(BaseModel):
    """What this process needs, part by part."""

    database: Literal["ok", "failing"]
    archives: Literal["ok", "failing"]


@router.get(LIVE_PATH)
async def healthz() -> dict[str, str]:
    """That the process answers at all."""
    return {"status": "ok"}


@router.get(READY_PATH)
def readyz(request: Request, response: Response) -> Readiness:
    """Whether the database answers and archives can be written: 503 if not. Says nothing more to strangers."""
    database: Database = request.app.state.database
    settings: Settings = request.app.state.settings
    try:
        with database.reading() as session:
            session.execute(text("SELECT 1"))
        database_state: Literal["ok", "failing"] = "ok"
    except SQLAlchemyError:
        database_state = "failing"
    archives_state: Literal["ok", "failing"] = "ok" if os.access(settings.archives, os.W_OK | os.X_OK) else "failing"
    if "failing" in {database_state, archives_state}:
        response.status_code = 503
    return Readiness(database=database_state, archives=archives_state)
