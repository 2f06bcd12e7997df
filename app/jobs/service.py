"""Adding, claiming and finishing jobs.

The next job is one of the highest priority that is due. Among these, it is from the owner with the fewest running jobs
of that kind; then from the one who was served least recently (never counts as longest ago); and of that owner, the
earliest. So the fifty uploads of one person do not block others, with any number of workers.

A claim chooses from the first few hundred waiting jobs, by turn, so a long queue costs no more than a short one. An
owner's first job is in the turn after the one that is being served when it is added, the next one in the turn after
that. So in a long queue, too, owners are served one job each, and no job is overtaken by those that are added later.

If a worker dies, its lease ends, and the job is due again. Every change checks that the claim is still held, so a slow
worker cannot store anything after another one has taken over. Transactions lock the job last, after what it is about.
When jobs are due, and how long leases last, is measured by the database's clock, whatever those of the machines show.
"""

import uuid
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, cast

from sqlalchemy import (
    CTE,
    ColumnElement,
    Delete,
    Update,
    and_,
    bindparam,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    tuple_,
    union_all,
    update,
)
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session, aliased
from sqlalchemy.sql.dml import ReturningUpdate

from vocboard.app.database import ADDED, insert_into, lock_for_transaction, server_clock
from vocboard.app.jobs.models import MAIL_KINDS, Job, Kind

PRIORITY = {kind: 10 * (position + 1) for position, kind in enumerate(Kind)}
URGENT = PRIORITY[Kind.EVALUATION] - 5  # before submissions: what an organiser waits for
# One job of these runs at a time, however many workers there are.
_ALONE = frozenset({Kind.SWEEP, Kind.MAIL_SWEEP, Kind.IMPORT})
# What long jobs of lower priority give way to; the others take no process for long, or have their own limit.
_GIVEN_WAY_TO = frozenset(Kind) - _ALONE - MAIL_KINDS - {Kind.FREEZE}
SWEEPS = frozenset({Kind.SWEEP, Kind.MAIL_SWEEP})  # which are due again by themselves
SWEEP_KEY = uuid.UUID(int=0)
KEPT = timedelta(days=1)  # for jobs that are done
_CLAIMED_TOGETHER = 100  # more workers do not claim within the same few milliseconds
_CONSIDERED = 200  # waiting jobs that a claim chooses from
_IS_PENDING = Job.finished_at.is_(None)

Instant = datetime | ColumnElement[datetime]


class LostClaimError(Exception):
    """The job was cancelled or claimed by another worker; the transaction must be rolled back."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker's claim on a job, until the lease ends.

    Attributes:
        id: of the job.
        attempt: 1 for the first claim.
        owner: the person that it is done for.
    """

    id: uuid.UUID
    kind: Kind
    key: uuid.UUID
    priority: int
    lease_id: uuid.UUID
    attempt: int
    owner: uuid.UUID | None = None


def add(session: Session, kind: Kind, key: uuid.UUID, *, owner: uuid.UUID | None = None) -> None:
    """Add a job, unless one is pending."""
    add_all(session, kind, [(key, owner)])


def add_all(
    session: Session,
    kind: Kind,
    jobs: Iterable[tuple[uuid.UUID, uuid.UUID | None]],
    *,
    priority: int | None = None,
    after: timedelta = timedelta(),
    attempts: int = 0,
) -> None:
    """Add jobs, except those that are pending.

    Args:
        jobs: keys and owners.
        priority: if it is not that of the kind.
        after: when they are due.
        attempts: number of attempts that count.
    """
    same = {"kind": kind, "priority": PRIORITY[kind] if priority is None else priority, "attempts": attempts}
    if rows := [{"id": uuid.uuid4(), "key": key, "owner": owner, "turn": 0, **same} for key, owner in jobs]:
        _take_turns(session, rows)
        instants = {"created_at": server_clock(session), "not_before": server_clock(session, after)}
        adding = insert_into(session, Job).values(**instants)
        session.execute(adding.on_conflict_do_nothing(**_PENDING_INDEX), rows)
        announce(session, kind)


def add_again(
    session: Session, kind: Kind, key: uuid.UUID, *, at: datetime | None = None, urgent: bool = False
) -> None:
    """Add a job; one that is pending is due at the same time, and a worker that has claimed it loses its claim.

    Args:
        at: when it is due, by default now.
        urgent: before submissions.
    """
    due = {
        "not_before": server_clock(session) if at is None else at,
        "priority": URGENT if urgent else PRIORITY[kind],
        "attempts": 0,
    }
    adding = insert_into(session, Job).values(kind=kind, key=key, created_at=server_clock(session), turn=0, **due)
    session.execute(adding.on_conflict_do_update(set_={"lease_id": None, **due}, **_PENDING_INDEX))
    announce(session, kind)


def announce(session: Session, kind: Kind) -> None:
    """Let workers look for jobs of a kind after the commit: `Database.writing` notifies them."""
    session.info.setdefault(ADDED, set()).add(kind)


def cancel(session: Session, kind: Kind, keys: Collection[uuid.UUID]) -> None:
    """Remove pending jobs; a worker that runs one can no longer store anything."""
    _changed(session, delete(Job).where(_IS_PENDING, Job.kind == kind, Job.key.in_(keys)))


def retry_failed(session: Session, kind: Kind, keys: Collection[uuid.UUID]) -> None:
    """Let failed jobs wait again; of those with the same key the last one, unless one waits or runs already."""
    other = aliased(Job)
    is_later = or_(other.finished_at.is_(None), and_(other.failure.is_not(None), other.created_at > Job.created_at))
    has_later = select(other.id).where(other.kind == Job.kind, other.key == Job.key, is_later).exists()
    again = {"finished_at": None, "failure": None, "detail": None, "attempts": 0, "not_before": server_clock(session)}
    failed = Job.kind == kind, Job.failure.is_not(None), Job.finished_at.is_not(None), Job.key.in_(keys)
    _changed(session, update(Job).where(*failed, ~has_later).values(**again))
    announce(session, kind)


def claim(session: Session, kinds: Collection[Kind], *, lease: timedelta) -> Claim | None:
    """Claim the next job of some kinds; None if none is due. Two workers never claim the same."""
    for kind, priority, instant in _levels(session, kinds):
        if kind in _ALONE:
            lock_for_transaction(session, f"jobs of kind {kind}")  # else two workers would both see that none runs
            if session.scalar(select(exists().where(_is_running(instant), Job.kind == kind))):
                continue
        lease_id = uuid.uuid4()
        given = {"instant": instant, "level": priority, "lease": lease_id, "lease_ends": instant + lease}
        row = session.execute(_claiming(kind), given).one_or_none()
        if row is not None:
            return Claim(row.id, kind, row.key, priority, lease_id, row.attempts, row.owner)
    return None


def renew(session: Session, claim: Claim, *, lease: timedelta) -> bool:
    """Renew the lease; False if the claim has been lost."""
    return _changed(session, update(Job).where(_is_held(claim)).values(not_before=server_clock(session, lease))) > 0


def require_held(session: Session, claim: Claim) -> None:
    """Lock a job whose claim is held, so that it cannot be lost before the end of the transaction.

    Raises:
        LostClaimError: it is not held.
    """
    if session.scalar(select(Job.id).where(_is_held(claim)).with_for_update()) is None:
        raise LostClaimError


def finish(session: Session, claim: Claim, *, failure: str | None = None, detail: str | None = None) -> None:
    """Finish a job in the transaction that stores its result.

    Args:
        failure: short name of why it failed; None if it is done.
        detail: the error, for the operator.

    Raises:
        LostClaimError: the claim has been lost, so nothing may be stored.
    """
    _end(session, claim, finished_at=server_clock(session), failure=failure, detail=detail)


def release(session: Session, claim: Claim, *, after: timedelta = timedelta()) -> None:
    """Return a job to the queue, as if it had not been claimed.

    Args:
        after: when it is due.

    Raises:
        LostClaimError: the claim has been lost.
    """
    _end(session, claim, not_before=server_clock(session, after), attempts=Job.attempts - 1)


def retry(session: Session, claim: Claim, *, after: timedelta, failure: str) -> None:
    """Return a job to the queue whose attempt has failed.

    Args:
        after: when it is due.
        failure: short name of why.

    Raises:
        LostClaimError: the claim has been lost.
    """
    _end(session, claim, not_before=server_clock(session, after), failure=failure)


def postpone(session: Session, kind: Kind, *, by: timedelta) -> None:
    """Let all jobs of a kind that are due now be due later."""
    due = update(Job).where(_is_due(server_clock(session)), Job.kind == kind)
    _changed(session, due.values(not_before=server_clock(session, by), lease_id=None))


def count_due(session: Session, kinds: Collection[Kind], *, limit: int) -> int:
    """Return the number of jobs that could be claimed now, at most `limit`."""
    instant = server_clock(session)
    running_alone = select(Job.kind).where(_is_running(instant), Job.kind.in_(_ALONE))
    due = select(Job.id).where(_is_due(instant), Job.kind.in_(kinds), Job.kind.not_in(running_alone)).limit(limit)
    return session.scalar(select(func.count()).select_from(due.subquery())) or 0


def must_give_way(session: Session, claim: Claim, kinds: Collection[Kind]) -> bool:
    """Whether a more urgent job of some kinds is due, so that a long one should be released as soon as possible."""
    others = _GIVEN_WAY_TO & frozenset(kinds)
    is_more_urgent = _is_due(server_clock(session)), Job.priority < claim.priority, Job.kind.in_(others)
    return session.scalar(select(exists().where(*is_more_urgent))) is True


def waiting(instant: Instant) -> ColumnElement[bool]:
    """Condition on jobs: pending and not running, also if they are not due yet."""
    return and_(_IS_PENDING, ~_is_running(instant))


def running(kind: Kind, instant: Instant) -> ColumnElement[bool]:
    """Condition on jobs: of this kind, and claimed by a worker whose lease has not ended."""
    return and_(Job.kind == kind, _is_running(instant))


def remove_old(session: Session) -> None:
    """Remove jobs that were done a while ago; those of email are kept longer, see `outbox.remove_old`."""
    old = Job.finished_at < server_clock(session, -KEPT), Job.failure.is_(None), Job.kind.not_in(MAIL_KINDS)
    _changed(session, delete(Job).where(*old))


def fair_order(kind: Kind, instant: Instant, is_waiting: ColumnElement[bool]) -> CTE:
    """Return a query of the first waiting jobs of a kind, by `key` and `id`, with what `by_turn` orders by."""
    first = select(Job.id, Job.key, Job.owner, Job.created_at).where(Job.kind == kind, is_waiting)
    first_jobs = first.order_by(*IN_TURN).limit(_CONSIDERED).cte("first_jobs")
    running = (
        select(Job.owner, func.count().label("number"))
        .where(Job.kind == kind, _is_running(instant))
        .group_by(Job.owner)
        .cte("running")
    )
    of_owner = select(func.max(Job.claimed_at)).where(Job.kind == kind, Job.owner == first_jobs.c.owner)
    waiting = first_jobs.c
    own_place = func.row_number().over(partition_by=waiting.owner, order_by=(waiting.created_at, waiting.id))
    turn = (func.coalesce(running.c.number, 0) + own_place).label("turn")
    served_at = of_owner.correlate(first_jobs).scalar_subquery().label("served_at")
    return (
        select(waiting.id, waiting.key, waiting.created_at, served_at, turn)
        .outerjoin(running, running.c.owner == waiting.owner)
        .cte("fair_order")
    )


def by_turn(order: CTE) -> tuple[ColumnElement[Any], ...]:
    """Return what `fair_order` is ordered by."""
    return order.c.turn, order.c.served_at.asc().nulls_first(), order.c.created_at, order.c.id


@cache  # building it takes as long as executing it
def _claiming(kind: Kind) -> ReturningUpdate[uuid.UUID, uuid.UUID, int, uuid.UUID | None]:
    """Return the statement that claims the next job of a kind.

    Its parameters: `instant` of the claim, `level` (the priority), `lease` (its id) and `lease_ends`.
    """
    instant, lease_ends = (bindparam(name, type_=Job.not_before.type) for name in ("instant", "lease_ends"))
    order = fair_order(kind, instant, and_(_is_due(instant), Job.priority == bindparam("level")))
    # Only the first few: locking these rows is fast, but locking hundreds of due jobs takes tens of ms.
    first = order.select().order_by(*by_turn(order)).limit(_CLAIMED_TOGETHER).cte("first")
    chosen = (
        select(Job.id)
        .join(first, first.c.id == Job.id)
        .where(_is_due(instant))
        .order_by(*by_turn(first))
        .limit(1)
        .with_for_update(of=Job, skip_locked=True)
        .scalar_subquery()
    )
    claimed = {
        "lease_id": bindparam("lease", type_=Job.lease_id.type),
        "claimed_at": instant,
        "not_before": lease_ends,
        "attempts": Job.attempts + 1,
    }
    claiming = update(Job).where(Job.id == chosen, _is_due(instant)).values(claimed)
    return claiming.returning(Job.id, Job.key, Job.attempts, Job.owner).execution_options(synchronize_session=False)


def _levels(session: Session, kinds: Collection[Kind]) -> Iterator[tuple[Kind, int, datetime]]:
    """Find each kind and priority that has due jobs, the most urgent first, when the one before has none left.

    Each comes with the time when it was looked at.
    """
    level, clock = tuple_(Job.priority, Job.kind), server_clock(session)
    due = select(Job.kind, Job.priority, clock.label("instant")).where(_is_due(clock), Job.kind.in_(kinds))
    query = due.order_by(Job.priority, Job.kind)
    row = session.execute(query.limit(1)).one_or_none()
    while row is not None:
        yield row.kind, row.priority, row.instant
        row = session.execute(query.where(level > (row.priority, row.kind)).limit(1)).one_or_none()


def _take_turns(session: Session, rows: list[dict[str, Any]]) -> None:
    owners = {row["owner"] for row in rows} - {None}
    if not owners:
        return
    kind, priority, is_waiting = rows[0]["kind"], rows[0]["priority"], waiting(server_clock(session))
    nobody = literal(None, Job.owner.type)
    served = select(nobody, func.min(Job.turn)).where(Job.kind == kind, Job.priority == priority, is_waiting)
    own = select(Job.owner, func.max(Job.turn)).where(Job.kind == kind, Job.owner.in_(owners), Job.claimed_at.is_(None))
    both = union_all(served, own.where(_IS_PENDING).group_by(Job.owner))
    last = {owner: turn or 0 for owner, turn in session.execute(both)}
    least = last.pop(None)  # the turn that is being served
    for row in rows:
        if (owner := row["owner"]) is not None:
            row["turn"] = last[owner] = max(last.get(owner, 0), least) + 1


IN_TURN = (Job.turn, Job.created_at, Job.id)
_PENDING_INDEX: dict[str, Any] = {"index_elements": ["kind", "key"], "index_where": _IS_PENDING}


def _is_due(instant: Instant) -> ColumnElement[bool]:
    return and_(_IS_PENDING, Job.not_before <= instant)


def _is_running(instant: Instant) -> ColumnElement[bool]:
    return and_(_IS_PENDING, Job.lease_id.is_not(None), Job.not_before > instant)


def _is_held(claim: Claim) -> ColumnElement[bool]:
    return and_(Job.id == claim.id, Job.lease_id == claim.lease_id, _IS_PENDING)


def _end(session: Session, claim: Claim, **values: object) -> None:
    if not _changed(session, update(Job).where(_is_held(claim)).values(lease_id=None, **values)):
        raise LostClaimError


def _changed(session: Session, statement: Update | Delete) -> int:
    result = session.execute(statement.execution_options(synchronize_session=False))
    return cast(CursorResult[Any], result).rowcount
