"""A queue of rows: claimed by one worker at a time, under a lease that it renews while it lives.

A row waits, then runs, then has whatever state its worker gives it. Of a worker that has died, the lease expires, and
the row waits again, or is given up after so many attempts. Every change asks whether the lease is still held, so a
worker that was merely slow stores nothing once another has taken over.

A kind of work has a model with the columns of `Leased`, and one `LeasedQueue` of it. Which row is the next is for it to
say: `app.submissions.queue` is fair between people, `app.challenges.ground_truth_queue` first come, first served.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, cast

from sqlalchemy import ColumnElement, ScalarSelect, Update, and_, func, select, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session

from vocboard.app.database import now
from vocboard.app.work_queues.models import Leased

_LET_GO: Mapping[str, None] = {"lease_id": None, "lease_expires_at": None}


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker's hold on a row.

    Attributes:
        id: the row's.
        lease_id: what tells this hold from an earlier or later one on the same row.
        attempt: 1 for the first time that it was claimed.
    """

    id: uuid.UUID
    lease_id: uuid.UUID
    attempt: int


@dataclass(frozen=True, slots=True)
class Released:
    """How many rows whose worker died wait again, and how many were given up."""

    returned: int
    given_up: int


class LeasedQueue:
    """The rows of one model as a queue.

    Args of the constructor:
        waiting: the state of a row that may be claimed.
        running: its state while it is held.
    """

    def __init__(self, model: type[Leased], *, waiting: StrEnum, running: StrEnum) -> None:
        self._model = model
        self._waiting = waiting
        self._running = running

    @property
    def is_waiting(self) -> ColumnElement[bool]:
        """The condition that a row may be claimed."""
        return self._model.state == self._waiting

    @property
    def is_running(self) -> ColumnElement[bool]:
        """The condition that a row is held, whether or not its lease has expired."""
        return self._model.state == self._running

    def claim(
        self, session: Session, *, chosen: ScalarSelect[uuid.UUID], lease: timedelta, **values: object
    ) -> Claim | None:
        """Take a row for as long as `lease`, in one statement; None if none waits.

        Two workers never claim the same submission: PostgreSQL skips locked rows, and SQLite has a single writer.

        Args:
            chosen: the id of the next row that waits, selected `FOR UPDATE SKIP LOCKED`.
            values: of other columns.
        """
        model = self._model
        row = session.execute(
            update(model)
            .where(model.id == chosen, self.is_waiting)
            .values(
                state=self._running,
                lease_id=uuid.uuid4(),
                lease_expires_at=now() + lease,
                attempts=model.attempts + 1,
                **values,
            )
            .returning(model.id, model.lease_id, model.attempts)
            .execution_options(synchronize_session=False)
        ).one_or_none()
        return None if row is None else Claim(row.id, row.lease_id, row.attempts)

    def renew(self, session: Session, claim: Claim, *, lease: timedelta) -> bool:
        """Hold on to a row for as long as `lease` from now; False if the hold has been lost."""
        return self._change(session, claim, lease_expires_at=now() + lease)

    def finish(self, session: Session, claim: Claim, *, state: StrEnum, **values: object) -> bool:
        """Give a row its final state, and let go of it; False if the hold has been lost and nothing may be stored."""
        return self._change(session, claim, state=state, **values, **_LET_GO)

    def give_back(self, session: Session, claim: Claim) -> bool:
        """Let a row wait again as if it had not been claimed; False if the hold has been lost."""
        return self._change(session, claim, state=self._waiting, attempts=self._model.attempts - 1, **_LET_GO)

    def release_expired(self, session: Session, *, attempts: int, given_up: Mapping[str, object]) -> Released:
        """Let rows whose worker has gone silent wait again, or give them up after so many attempts.

        Args:
            given_up: values of the columns of a row that is given up; its state among them.
        """
        model, expired = self._model, self._is_expired()
        give_up = update(model).where(expired, model.attempts >= attempts).values(**given_up, **_LET_GO)
        give_back = update(model).where(expired).values(state=self._waiting, **_LET_GO)
        count = _changed_rows(session, give_up)
        return Released(returned=_changed_rows(session, give_back), given_up=count)

    def has_expired(self, session: Session) -> bool:
        """Whether `release_expired` has anything to do."""
        return session.scalar(select(self._model.id).where(self._is_expired()).limit(1)) is not None

    def waiting(self, session: Session) -> int:
        """How many rows wait."""
        return self._count(session, self.is_waiting)

    def running(self, session: Session) -> int:
        """How many rows are held."""
        return self._count(session, self.is_running)

    def _is_expired(self) -> ColumnElement[bool]:
        return and_(self.is_running, self._model.lease_expires_at <= now())

    def _count(self, session: Session, condition: ColumnElement[bool]) -> int:
        return session.scalar(select(func.count()).select_from(self._model).where(condition)) or 0

    def _change(self, session: Session, claim: Claim, **values: object) -> bool:
        """Change a row if the claim still holds it, whether or not its lease has expired meanwhile."""
        model = self._model
        held = and_(model.id == claim.id, model.lease_id == claim.lease_id, self.is_running)
        return _changed_rows(session, update(model).where(held).values(**values)) == 1


def _changed_rows(session: Session, statement: Update) -> int:
    result = session.execute(statement.execution_options(synchronize_session=False))
    return cast(CursorResult[Any], result).rowcount
