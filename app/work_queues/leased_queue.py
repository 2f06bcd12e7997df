"""A work queue of database rows. A worker claims a row with a lease, and renews the lease while it works.

A row is waiting, then running, then in a final state set by its worker. If the worker dies, the lease expires, and the
row returns to the queue, or fails after too many attempts. Every change checks that the lease is still held, so a slow
worker cannot store anything after another one has taken over.

Each kind of work has a model with the columns of `Leased` and a `LeasedQueue`, and decides which row is next:
`app.submissions.queue` is fair between people, `app.challenges.ground_truth_queue` is first come, first served.
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
    """A worker's claim on a row.

    Attributes:
        id: the row's.
        lease_id: distinguishes this claim from other claims on the same row.
        attempt: 1 for the first claim.
    """

    id: uuid.UUID
    lease_id: uuid.UUID
    attempt: int


@dataclass(frozen=True, slots=True)
class Released:
    """The numbers of rows of dead workers that were queued again and that have failed."""

    returned: int
    given_up: int


class LeasedQueue:
    """A queue of the rows of one model.

    Args of the constructor:
        waiting: the state of rows that can be claimed.
        running: the state of claimed rows.
    """

    def __init__(self, model: type[Leased], *, waiting: StrEnum, running: StrEnum) -> None:
        self._model = model
        self._waiting = waiting
        self._running = running

    @property
    def is_waiting(self) -> ColumnElement[bool]:
        """Return the condition that a row can be claimed."""
        return self._model.state == self._waiting

    @property
    def is_running(self) -> ColumnElement[bool]:
        """Return the condition that a row is claimed, even if its lease has expired."""
        return self._model.state == self._running

    def claim(
        self, session: Session, *, chosen: ScalarSelect[uuid.UUID], lease: timedelta, **values: object
    ) -> Claim | None:
        """Claim a row for the duration `lease`, in one statement; None if none is waiting.

        Two workers never claim the same submission: PostgreSQL skips locked rows, and SQLite has a single writer.

        Args:
            chosen: query for the id of the next waiting row, selected `FOR UPDATE SKIP LOCKED`.
            values: values of other columns.
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
        """Renew a claim for the duration `lease`; False if the claim has been lost."""
        return self._change(session, claim, lease_expires_at=now() + lease)

    def finish(self, session: Session, claim: Claim, *, state: StrEnum, **values: object) -> bool:
        """Set a row's final state, and release it; False if the claim has been lost and nothing may be stored."""
        return self._change(session, claim, state=state, **values, **_LET_GO)

    def give_back(self, session: Session, claim: Claim) -> bool:
        """Return a row to the queue, as if it had not been claimed; False if the claim has been lost."""
        return self._change(session, claim, state=self._waiting, attempts=self._model.attempts - 1, **_LET_GO)

    def release_expired(self, session: Session, *, attempts: int, given_up: Mapping[str, object]) -> Released:
        """Return rows with expired leases to the queue, or fail them after too many attempts.

        Args:
            given_up: column values of rows that fail, including the state.
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
        """Return the number of waiting rows."""
        return self._count(session, self.is_waiting)

    def running(self, session: Session) -> int:
        """Return the number of claimed rows."""
        return self._count(session, self.is_running)

    def _is_expired(self) -> ColumnElement[bool]:
        return and_(self.is_running, self._model.lease_expires_at <= now())

    def _count(self, session: Session, condition: ColumnElement[bool]) -> int:
        return session.scalar(select(func.count()).select_from(self._model).where(condition)) or 0

    def _change(self, session: Session, claim: Claim, **values: object) -> bool:
        """Update a row if the claim is still valid, even if its lease has expired."""
        model = self._model
        held = and_(model.id == claim.id, model.lease_id == claim.lease_id, self.is_running)
        return _changed_rows(session, update(model).where(held).values(**values)) == 1


def _changed_rows(session: Session, statement: Update) -> int:
    result = session.execute(statement.execution_options(synchronize_session=False))
    return cast(CursorResult[Any], result).rowcount
