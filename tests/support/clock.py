"""A clock that tests move: all of vocboard asks it for the current time, in this process."""

import multiprocessing
from datetime import datetime, timedelta, tzinfo

import pytest
from sqlalchemy import ColumnElement, literal
from sqlalchemy.orm import Session

from vocboard.app import database
from vocboard.app.intake import attempts, resumable
from vocboard.app.jobs import service as jobs
from vocboard.app.leaderboards import freezing
from vocboard.app.rescores import switch
from vocboard.app.submissions import queue


class Clock:
    """How far the clock of vocboard is from the real one, in this process and in those that are forked from it."""

    def __init__(self) -> None:
        self._seconds = multiprocessing.RawValue("d", 0)

    @property
    def offset(self) -> timedelta:
        """How much later it is by this clock."""
        return timedelta(seconds=self._seconds.value)

    @offset.setter
    def offset(self, offset: timedelta) -> None:
        self._seconds.value = offset.total_seconds()

    def advance(self, by: timedelta) -> None:
        """Let time pass."""
        self.offset += by

    def set(self, instant: datetime) -> None:
        """Let it be this instant now."""
        self.offset = instant - datetime.now(instant.tzinfo)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Give a clock that shows the real time until it is moved."""
    moved = Clock()

    class Moved(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + moved.offset

    monkeypatch.setattr(database, "datetime", Moved)  # which `now` asks
    for module in (attempts, freezing, queue, resumable, switch):  # PostgreSQL has a clock of its own
        monkeypatch.setattr(module, "server_time", lambda _session: database.now())

    def server_clock(_session: Session, after: timedelta = timedelta()) -> ColumnElement[datetime]:
        return literal(database.now() + after, database.UTCDateTime())

    monkeypatch.setattr(jobs, "server_clock", server_clock)
    return moved
