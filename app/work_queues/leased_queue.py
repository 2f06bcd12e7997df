"""A work queue of database rows. A worker claims rows with a lease, and renews the lease while it works.

A row is waiting, then claimed, then has final values set by its worker. If the worker dies, the lease expires, and the
row returns to the queue, or fails after too many attempts. Every change checks that the lease is still held, so a slow
worker cannot store anything after another one has taken over.

Each kind of work has a model with the columns of `Leased` and one queue, and decides which rows are next:

- `app.submissions.queue` is fair between people, `app.challenges.ground_truth_queue` between organisers. Both claim
  one row at a time: a `StateQueue`.
- `app.rescores.batches` claims several rows with one lease.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, Protocol, TypeVar, cast

from sqlalchemy import ColumnElement, Update, and_, inspect, select, true, tuple_, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session

from vocboard.app.database import now
from vocboard.app.work_queues.models import Leased

_LET_GO: Mapping[str, None] = {"lease_id": None, "lease_expires_at": None}


class HasLease(Protocol):
    """A worker's claim on rows."""

    @property
    def lease_id(self) -> uuid.UUID:
        """Distinguishes this claim from other claims on the same rows."""
        ...


ClaimT = TypeVar("ClaimT", bound=HasLease)


@dataclass(frozen=True, slots=True)
class Released:
    """Numbers of rows that returned to the queue, and that were given up."""

    returned: int
    given_up: int


class LeasedQueue(Generic[ClaimT]):
    """A queue of the rows of one model.

    Attributes:
        is_waiting: the condition that a row can be claimed.
        is_claimed: the condition that a row is claimed, even if its lease has expired.

    Args of the constructor:
        rows_of: returns the condition that a row may belong to a claim, on columns with an index.
        claimed: values of other columns of a claimed row.
        returned: values of the same columns after it has returned to the queue.
    """

    def __init__(
        self,
        model: type[Leased],
        *,
        is_waiting: ColumnElement[bool],
        is_claimed: ColumnElement[bool],
        rows_of: Callable[[ClaimT], ColumnElement[bool]],
        claimed: Mapping[str, object] | None = None,
        returned: Mapping[str, object] | None = None,
    ) -> None:
        self._model = model
        self.is_waiting = is_waiting
        self.is_claimed = is_claimed
        self._rows_of = rows_of
        self._claimed = claimed or {}
        self._returned = returned or {}

    def is_expired(self) -> ColumnElement[bool]:
        """Return the condition that the lease of a claimed row has expired."""
        return and_(self.is_claimed, self._model.lease_expires_at <= now())

    def is_claimed_by(self, claim: ClaimT) -> ColumnElement[bool]:
        """Return the condition that a row is still held by a claim, even if its lease has expired."""
        return and_(self._rows_of(claim), self._model.lease_id == claim.lease_id, self.is_claimed)

    def claiming(
        self, chosen: ColumnElement[bool], *, lease: timedelta, lease_id: uuid.UUID, **values: object
    ) -> Update:
        """Return the statement that claims rows with a new lease.

        Two workers never claim the same row if `chosen` selects `FOR UPDATE SKIP LOCKED`: PostgreSQL skips locked rows,
        and SQLite has a single writer.

        Args:
            values: of other columns.
        """
        claim = {"lease_id": lease_id, "lease_expires_at": now() + lease, "attempts": self._model.attempts + 1}
        return update(self._model).where(chosen, self.is_waiting).values(**claim, **self._claimed, **values)

    def claim_rows(self, session: Session, chosen: ColumnElement[bool], *, lease: timedelta) -> uuid.UUID | None:
        """Claim rows with one lease; return its id, or None if none of them is waiting.

        Args:
            chosen: as for `claiming`.
        """
        lease_id = uuid.uuid4()
        return lease_id if changed_rows(session, self.claiming(chosen, lease=lease, lease_id=lease_id)) else None

    def renew(self, session: Session, claim: ClaimT, *, lease: timedelta) -> bool:
        """Renew the lease of a claim; False if the claim has been lost."""
        return self._change(session, claim, {"lease_expires_at": now() + lease})

    def finish(
        self,
        session: Session,
        claim: ClaimT,
        values: Mapping[str, object],
        *,
        only: ColumnElement[bool] | None = None,
    ) -> bool:
        """Set the final values of rows and release them; False if the claim has been lost: do not store anything then.

        Args:
            only: restricts the rows of the claim.
        """
        return self._change(session, claim, {**values, **_LET_GO}, only)

    def give_back(self, session: Session, claim: ClaimT, *, only: ColumnElement[bool] | None = None) -> bool:
        """Return rows to the queue as if they had not been claimed; False if the claim has been lost.

        Args:
            only: as for `finish`.
        """
        values = {"attempts": self._model.attempts - 1, **self._returned, **_LET_GO}
        return self._change(session, claim, values, only)

    def hold(self, session: Session, claim: ClaimT) -> None:
        """Leave rows claimed until the lease ends, as if that was no attempt: they cannot be worked on before."""
        self._change(session, claim, {"attempts": self._model.attempts - 1})

    def release_expired(
        self,
        session: Session,
        *,
        attempts: int,
        given_up: Mapping[str, object],
        among: ColumnElement[bool] | None = None,
    ) -> Released:
        """Return rows with an expired lease to the queue, or give them up after too many attempts.

        Args:
            given_up: values of the columns of rows that are given up.
            among: restricts the rows.
        """
        expired = and_(self.is_expired(), true() if among is None else among)
        # Rows that are being changed now can wait for the next time; waiting for them could end in a deadlock.
        keys = tuple_(*inspect(self._model).primary_key)
        expired = and_(expired, keys.in_(select(*keys).where(expired).with_for_update(skip_locked=True)))
        give_up = update(self._model).where(expired, self._model.attempts >= attempts).values(**given_up, **_LET_GO)
        give_back = update(self._model).where(expired).values(**self._returned, **_LET_GO)
        count = changed_rows(session, give_up)
        return Released(returned=changed_rows(session, give_back), given_up=count)

    def has_expired(self, session: Session) -> bool:
        """Whether `release_expired` has anything to do."""
        return session.scalar(select(true()).select_from(self._model).where(self.is_expired()).limit(1)) is not None

    def _change(
        self, session: Session, claim: ClaimT, values: Mapping[str, object], only: ColumnElement[bool] | None = None
    ) -> bool:
        meant = and_(self.is_claimed_by(claim), true() if only is None else only)
        return changed_rows(session, update(self._model).where(meant).values(**values)) > 0


def changed_rows(session: Session, statement: Update) -> int:
    """Execute an update, and return the number of changed rows."""
    result = session.execute(statement.execution_options(synchronize_session=False))
    return cast(CursorResult[Any], result).rowcount
