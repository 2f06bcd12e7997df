"""The queue: rows of submissions, leased to workers.

Who is next: the person of whom the fewest submissions are running, among these the one who was served longest ago
(never is longest), and of that person the earliest. So nobody waits behind one person's fifty uploads, whether there
are many workers or one.
"""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from sqlalchemy import CTE, ColumnElement, Update, and_, func, select, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session

from vocboard.app.database import now
from vocboard.app.submissions.models import State, Submission

_CLAIMED_AT_ONCE = 100  # more workers than that do not claim in the same few milliseconds

GIVEN_UP = "The evaluation was interrupted several times. This was not your fault; you have your quota back."


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker's hold on a submission.

    Attributes:
        lease_id: what tells this hold from an earlier or later one on the same submission.
        attempt: 1 for the first time that it is evaluated.
    """

    submission_id: uuid.UUID
    lease_id: uuid.UUID
    attempt: int


@dataclass(frozen=True, slots=True)
class Released:
    """What became of submissions whose worker died."""

    queued: int
    failed: int


def claim(session: Session, *, lease: timedelta) -> Claim | None:
    """Take the next submission for as long as `lease`, in one statement; None if nobody waits.

    Two workers never get the same one: PostgreSQL skips rows that another is just taking, SQLite has one writer.
    """
    instant = now()
    # The first few: to look for their rows takes no time, but to look for those of hundreds that wait takes tens of ms.
    order = _fair_order()
    first = order.select().order_by(*_by_turn(order)).limit(_CLAIMED_AT_ONCE).cte("first")
    is_waiting = Submission.state == State.QUEUED
    chosen = (
        select(Submission.id)
        .join(first, first.c.id == Submission.id)
        .where(is_waiting)
        .order_by(*_by_turn(first))
        .limit(1)
        .with_for_update(of=Submission, skip_locked=True)
        .scalar_subquery()
    )
    row = session.execute(
        update(Submission)
        .where(Submission.id == chosen, is_waiting)
        .values(
            state=State.EVALUATING,
            claimed_at=instant,
            lease_id=uuid.uuid4(),
            lease_expires_at=instant + lease,
            attempts=Submission.attempts + 1,
        )
        .returning(Submission.id, Submission.lease_id, Submission.attempts)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    return None if row is None else Claim(row.id, row.lease_id, row.attempts)


def renew(session: Session, claim: Claim, *, lease: timedelta) -> bool:
    """Hold on to a submission for as long as `lease` from now; False if the hold has been lost."""
    return _change(session, claim, lease_expires_at=now() + lease)


def finish(session: Session, claim: Claim) -> bool:
    """Make the submission scored; False if the hold has been lost and nothing may be stored."""
    return _change(session, claim, state=State.SCORED, finished_at=now(), **_LET_GO)


def put_back(session: Session, claim: Claim) -> bool:
    """Let the submission wait in the queue again as if it had not been claimed; False if the hold has been lost."""
    return _change(session, claim, state=State.QUEUED, attempts=Submission.attempts - 1, **_LET_GO)


def fail(session: Session, claim: Claim, *, failure: str, detail: str) -> bool:
    """Make the submission failed by our fault and give its quota back; False if the hold has been lost.

    Args:
        failure: what the participant is told.
        detail: what the operator needs; never shown to participants.
    """
    return _change(session, claim, failure_detail=detail, **_failed(failure))


def release_expired(session: Session, *, attempts: int) -> Released:
    """Return submissions whose worker has gone silent to the queue, or fail them after so many attempts."""
    expired = _is_expired()
    gave_up = update(Submission).where(expired, Submission.attempts >= attempts).values(**_failed(GIVEN_UP))
    returned = update(Submission).where(expired).values(state=State.QUEUED, **_LET_GO)
    failed = _rows(session, gave_up)
    return Released(queued=_rows(session, returned), failed=failed)


def has_expired(session: Session) -> bool:
    """Whether `release_expired` would find something."""
    return session.scalar(select(Submission.id).where(_is_expired()).limit(1)) is not None


def waiting(session: Session) -> int:
    """How many submissions wait."""
    return session.scalar(select(func.count()).select_from(Submission).where(Submission.state == State.QUEUED)) or 0


def running(session: Session) -> int:
    """How many submissions are being evaluated."""
    return session.scalar(select(func.count()).select_from(Submission).where(Submission.state == State.EVALUATING)) or 0


def queue_position(session: Session, submission: Submission) -> int | None:
    """The submission's present place in the fair order, 1 for the next; None if it does not wait."""
    if submission.state != State.QUEUED:
        return None
    order = _fair_order()
    place = func.row_number().over(order_by=_by_turn(order)).label("place")
    places = select(order.c.id, place).subquery()
    return session.scalar(select(places.c.place).where(places.c.id == submission.id))


_LET_GO = {"lease_id": None, "lease_expires_at": None}


def _failed(failure: str) -> dict[str, object]:
    instant = now()
    return {
        "state": State.FAILED,
        "failure": failure,
        "finished_at": instant,
        "quota_returned_at": instant,
        **_LET_GO,
    }


def _is_expired() -> ColumnElement[bool]:
    return and_(Submission.state == State.EVALUATING, Submission.lease_expires_at <= now())


def _change(session: Session, claim: Claim, **values: object) -> bool:
    """Change the submission if the claim still holds it, whether or not its lease has expired meanwhile."""
    held = and_(
        Submission.id == claim.submission_id,
        Submission.lease_id == claim.lease_id,
        Submission.state == State.EVALUATING,
    )
    return _rows(session, update(Submission).where(held).values(**values)) == 1


def _rows(session: Session, statement: Update) -> int:
    """Carry out an update; how many rows it changed."""
    result = session.execute(statement.execution_options(synchronize_session=False))
    return cast(CursorResult[Any], result).rowcount


def _fair_order() -> CTE:
    """The submissions that wait, with what their place in the order depends on."""
    is_waiting = Submission.state == State.QUEUED
    people = (
        select(
            Submission.user_id,
            func.count().filter(Submission.state == State.EVALUATING).label("running"),
            func.max(Submission.claimed_at).label("served_at"),
        )
        .where(Submission.user_id.in_(select(Submission.user_id).where(is_waiting)))
        .group_by(Submission.user_id)
        .cte("people")
    )
    place_of_own = func.row_number().over(
        partition_by=Submission.user_id, order_by=(Submission.queued_at, Submission.id)
    )
    return (
        select(Submission.id, Submission.queued_at, people.c.served_at, (people.c.running + place_of_own).label("turn"))
        .join(people, people.c.user_id == Submission.user_id)
        .where(is_waiting)
        .cte("fair_order")
    )


def _by_turn(order: CTE) -> tuple[ColumnElement[Any], ...]:
    return order.c.turn, order.c.served_at.asc().nulls_first(), order.c.queued_at, order.c.id
