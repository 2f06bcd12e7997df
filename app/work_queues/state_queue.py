"""A queue of rows that are claimed one at a time; their state says whether they are waiting, running or finished."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from sqlalchemy import ColumnElement, ScalarSelect, func, select
from sqlalchemy.orm import Session

from vocboard.app.work_queues.leased_queue import LeasedQueue
from vocboard.app.work_queues.models import LeasedWithState


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


class StateQueue(LeasedQueue[Claim]):
    """A queue of the rows of one model; `finish` sets their final state.

    Args of the constructor:
        waiting: the state of rows that can be claimed.
        running: the state of claimed rows.
    """

    def __init__(self, model: type[LeasedWithState], *, waiting: StrEnum, running: StrEnum) -> None:
        super().__init__(
            model,
            is_waiting=model.state == waiting,
            is_claimed=model.state == running,
            rows_of=lambda claim: model.id == claim.id,
            claimed={"state": running},
            returned={"state": waiting},
        )
        self._rows = model

    def claim(
        self, session: Session, *, chosen: ScalarSelect[uuid.UUID], lease: timedelta, **values: object
    ) -> Claim | None:
        """Claim a row for the duration `lease`, in one statement; None if none is waiting.

        Args:
            chosen: the id of the next waiting row, selected `FOR UPDATE SKIP LOCKED`.
            values: of other columns.
        """
        rows = self._rows
        claiming = self.claiming(rows.id == chosen, lease=lease, lease_id=uuid.uuid4(), **values)
        row = session.execute(
            claiming.returning(rows.id, rows.lease_id, rows.attempts).execution_options(synchronize_session=False)
        ).one_or_none()
        return None if row is None else Claim(row.id, row.lease_id, row.attempts)

    def waiting(self, session: Session) -> int:
        """Return the number of waiting rows."""
        return self._count(session, self.is_waiting)

    def running(self, session: Session) -> int:
        """Return the number of claimed rows."""
        return self._count(session, self.is_claimed)

    def _count(self, session: Session, condition: ColumnElement[bool]) -> int:
        return session.scalar(select(func.count()).select_from(self._rows).where(condition)) or 0
