"""The queue of challenges whose statistics are out of date. A worker claims one challenge with a lease.

A challenge is waiting while the revision of its leaderboards is not the one that its statistics were computed for, so
nobody has to announce changes. Storing statistics is itself such a change: the next worker then finds that nothing is
left to do.
"""

import uuid
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import and_, exists, func, literal, or_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now
from vocboard.app.leaderboards.models import LeaderboardRevision
from vocboard.app.rescores import queue as rescores
from vocboard.app.statistics.models import StatisticsUpdate
from vocboard.app.submissions import queue as live_queue
from vocboard.app.work_queues.leased_queue import LeasedQueue

VERSION = 5  # of the computation: increase it when statistics of the same results would be others
INTERRUPTED = "The computation stopped the worker several times."

_REVISION = (
    select(LeaderboardRevision.revision)
    .where(LeaderboardRevision.challenge_id == StatisticsUpdate.challenge_id)
    .correlate(StatisticsUpdate)
    .scalar_subquery()
)


@dataclass(frozen=True, slots=True)
class StatisticsClaim:
    """A worker's claim on the statistics of a challenge.

    Attributes:
        is_given_up: whether the computation has stopped workers so often that it is not begun again.
    """

    challenge_id: uuid.UUID
    lease_id: uuid.UUID
    is_given_up: bool


_queue: LeasedQueue[StatisticsClaim] = LeasedQueue(
    StatisticsUpdate,
    is_waiting=and_(
        StatisticsUpdate.lease_id.is_(None),
        or_(StatisticsUpdate.revision != _REVISION, StatisticsUpdate.version < VERSION),
    ),
    is_claimed=StatisticsUpdate.lease_id.is_not(None),
    rows_of=lambda claim: StatisticsUpdate.challenge_id == claim.challenge_id,
)
_HAS_NO_ROW = ~exists().where(StatisticsUpdate.challenge_id == Challenge.id)


def must_wait(session: Session, evaluator_version: str) -> bool:
    """Whether more urgent work is waiting: new submissions, or a re-score, which would make statistics out of date."""
    return live_queue.waiting(session) > 0 or rescores.due(session, evaluator_version) > 0


def due(session: Session, evaluator_version: str) -> int:
    """Return the number of challenges to work on now."""
    if must_wait(session, evaluator_version):
        return 0
    is_due = or_(_queue.is_waiting, _queue.is_expired())
    waiting = session.scalar(select(func.count()).select_from(StatisticsUpdate).where(is_due)) or 0
    unknown = session.scalar(select(func.count()).select_from(Challenge).where(_HAS_NO_ROW)) or 0
    return waiting + unknown


def claim(session: Session, *, lease: timedelta, attempts: int) -> StatisticsClaim | None:
    """Claim the challenge that has waited longest since its last update; None if none is waiting.

    What has stopped workers `attempts` times is claimed once more, to record that it is given up until the leaderboards
    change again.
    """
    _add_missing(session)
    given_up = {"revision": _REVISION, "version": VERSION, "attempts": 0, "failure": INTERRUPTED, "updated_at": now()}
    _queue.release_expired(session, attempts=attempts + 1, given_up=given_up)
    chosen = session.scalar(
        select(StatisticsUpdate.challenge_id)
        .where(_queue.is_waiting)
        .order_by(StatisticsUpdate.updated_at.asc().nulls_first(), StatisticsUpdate.challenge_id)
        .limit(1)
        .with_for_update(of=StatisticsUpdate, skip_locked=True)
    )
    if chosen is None:
        return None
    lease_id = _queue.claim_rows(session, StatisticsUpdate.challenge_id == chosen, lease=lease)
    if lease_id is None:
        return None
    begun = session.scalar(select(StatisticsUpdate.attempts).where(StatisticsUpdate.challenge_id == chosen))
    return StatisticsClaim(chosen, lease_id, is_given_up=(begun or 0) > attempts)


def renew(session: Session, claim: StatisticsClaim, *, lease: timedelta) -> bool:
    """Renew a lease; False if it is no longer held."""
    return _queue.renew(session, claim, lease=lease)


def is_held(session: Session, claim: StatisticsClaim) -> bool:
    """Whether results may be stored; the claim cannot be lost before the end of the transaction."""
    query = select(StatisticsUpdate.challenge_id).where(_queue.is_claimed_by(claim)).with_for_update()
    return session.scalar(query) is not None


def finish(
    session: Session, claim: StatisticsClaim, *, revision: int, has_computed: bool = True, failure: str | None = None
) -> bool:
    """Record up to which revision everything is computed; False if the claim has been lost.

    Args:
        revision: read before the leaderboards were.
        has_computed: whether there was anything to compute; otherwise, the last failure stays.
        failure: what could not be computed and why, for the operator.
    """
    values: dict[str, object] = {"revision": revision, "version": VERSION, "attempts": 0, "updated_at": now()}
    if has_computed:
        values["failure"] = failure
    return _queue.finish(session, claim, values)


def give_back(session: Session, claim: StatisticsClaim) -> bool:
    """Return the challenge to the queue, because more urgent work is waiting; False if the claim has been lost."""
    return _queue.give_back(session, claim)


def _add_missing(session: Session) -> None:
    """Add the rows of new challenges."""
    insert = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    missing = select(Challenge.id, literal(0), literal(0), literal(0)).where(_HAS_NO_ROW)
    columns = ["challenge_id", "revision", "version", "attempts"]
    session.execute(insert(StatisticsUpdate).from_select(columns, missing).on_conflict_do_nothing())
