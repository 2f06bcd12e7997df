"""The queue of people whose submissions are to be compared with each other. A worker claims one person with a lease.

Nobody announces changes: the sweep compares what is stored with what there is. So it does not matter whether a
submission was scored, scored again, withdrawn or imported. It waits while anything else does, leaderboards included.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.statistics import queue as board_queue
from vocboard.app.statistics.boards import Failure
from vocboard.app.statistics.models import SubmissionSequence
from vocboard.app.statistics.sequences import COUNTED
from vocboard.app.submissions.models import Submission
from vocboard.app.work_queues.leased_queue import LeasedQueue

VERSION = 3  # of the computation: increase it when the same submissions would give other numbers
MIN_SUBMISSIONS = 2


class Person(NamedTuple):
    """Somebody's submissions to a phase."""

    challenge_id: uuid.UUID
    phase_key: str
    user_id: uuid.UUID


class _State(NamedTuple):
    """What tells whether something has changed."""

    submissions: int
    latest_at: datetime
    decimals: int
    version: int


@dataclass(frozen=True, slots=True)
class SequenceClaim:
    """A worker's claim on the submissions of a person."""

    person: Person
    lease_id: uuid.UUID


def _is(person: Person) -> ColumnElement[bool]:
    return and_(
        SubmissionSequence.challenge_id == person.challenge_id,
        SubmissionSequence.phase_key == person.phase_key,
        SubmissionSequence.user_id == person.user_id,
    )


_queue: LeasedQueue[SequenceClaim] = LeasedQueue(
    SubmissionSequence,
    is_waiting=and_(SubmissionSequence.lease_id.is_(None), SubmissionSequence.is_due.is_(True)),
    is_claimed=SubmissionSequence.lease_id.is_not(None),
    rows_of=lambda claim: _is(claim.person),
)


def must_wait(session: Session, evaluator_version: str) -> bool:
    """Whether more urgent work is waiting: submissions, re-scores, or statistics of leaderboards."""
    return board_queue.must_wait(session, evaluator_version) or board_queue.due(session, evaluator_version) > 0


def due(session: Session, evaluator_version: str) -> int:
    """Return the number of people whose submissions are to be compared now."""
    is_due = SubmissionSequence.is_due.is_(True), or_(_queue.is_waiting, _queue.is_expired())
    waiting = session.scalar(select(func.count()).select_from(SubmissionSequence).where(*is_due)) or 0
    return 0 if waiting and must_wait(session, evaluator_version) else waiting


def mark_changed(session: Session) -> None:
    """Mark the people whose submissions have changed since they were compared, and forget those with fewer than two.

    Where organisers leave statistics out, nothing is kept.
    """
    insert = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    present = _present(session)
    stored = {Person(*row[:3]): row for row in session.execute(select(*_STORED))}
    for person, row in stored.items():
        if person not in present and row.lease_id is None:
            session.execute(delete(SubmissionSequence).where(_is(person), SubmissionSequence.lease_id.is_(None)))
    for person, (state, requested_at) in present.items():
        known = stored.get(person)
        if known is None:
            values = {**person._asdict(), **state._asdict(), "is_due": True, "attempts": 0}
            session.execute(insert(SubmissionSequence).values(values).on_conflict_do_nothing())  # another worker's
        elif known.lease_id is None and (
            _State(known.submissions, known.latest_at, known.decimals, known.version) != state
            or (requested_at is not None and known.computed_at is not None and known.computed_at < requested_at)
        ):
            change = update(SubmissionSequence).where(_is(person), SubmissionSequence.lease_id.is_(None))
            session.execute(change.values(**state._asdict(), is_due=True))


_STORED = (
    SubmissionSequence.challenge_id,
    SubmissionSequence.phase_key,
    SubmissionSequence.user_id,
    SubmissionSequence.submissions,
    SubmissionSequence.latest_at,
    SubmissionSequence.decimals,
    SubmissionSequence.version,
    SubmissionSequence.computed_at,
    SubmissionSequence.lease_id,
)


def _present(session: Session) -> Mapping[Person, tuple[_State, datetime | None]]:
    """Return everybody with at least two submissions to a phase, and when organisers have last asked for statistics."""
    query = (
        select(
            Submission.challenge_id,
            Submission.phase_key,
            Submission.user_id,
            func.count(),
            func.max(Evaluation.created_at, type_=Evaluation.created_at.type),
            Challenge.decimals,
            Challenge.statistics_requested_at,
        )
        .join(Evaluation, Evaluation.id == Submission.current_evaluation_id)
        .join(Challenge, Challenge.id == Submission.challenge_id)
        .where(Challenge.statistics.is_(True), Submission.state.in_(COUNTED), Submission.is_rehearsal.is_(False))
        .group_by(
            Submission.challenge_id,
            Submission.phase_key,
            Submission.user_id,
            Challenge.decimals,
            Challenge.statistics_requested_at,
        )
        .having(func.count() >= MIN_SUBMISSIONS)
    )
    return {
        Person(challenge_id, phase_key, user_id): (_State(number, latest_at, decimals, VERSION), requested_at)
        for challenge_id, phase_key, user_id, number, latest_at, decimals, requested_at in session.execute(query)
    }


def claim(session: Session, *, lease: timedelta, attempts: int) -> SequenceClaim | None:
    """Claim the person that was compared longest ago; None if none is waiting.

    What has stopped workers `attempts` times is given up until something changes.
    """
    given_up = {"is_due": False, "attempts": 0, "computed_at": now(), "content": {"failure": Failure.INTERRUPTED}}
    _queue.release_expired(session, attempts=attempts, given_up=given_up)
    chosen = session.execute(
        select(SubmissionSequence.challenge_id, SubmissionSequence.phase_key, SubmissionSequence.user_id)
        .where(_queue.is_waiting)
        .order_by(SubmissionSequence.computed_at.asc().nulls_first(), SubmissionSequence.user_id)
        .limit(1)
        .with_for_update(of=SubmissionSequence, skip_locked=True)
    ).one_or_none()
    if chosen is None:
        return None
    person = Person(*chosen)
    lease_id = _queue.claim_rows(session, _is(person), lease=lease)
    return None if lease_id is None else SequenceClaim(person, lease_id)


def renew(session: Session, claim: SequenceClaim, *, lease: timedelta) -> bool:
    """Renew a lease; False if it is no longer held."""
    return _queue.renew(session, claim, lease=lease)


def finish(session: Session, claim: SequenceClaim, content: Mapping[str, Any]) -> bool:
    """Store what was computed; False if the claim has been lost."""
    values = {"is_due": False, "attempts": 0, "computed_at": now(), "content": content}
    return _queue.finish(session, claim, values)


def give_back(session: Session, claim: SequenceClaim) -> bool:
    """Return the person to the queue, because more urgent work is waiting; False if the claim has been lost."""
    return _queue.give_back(session, claim)
