"""The people whose submissions are to be compared with each other; a job compares those of a challenge.

Nobody announces changes: the sweep compares what is stored with what there is. So it does not matter whether a
submission was scored, scored again, withdrawn or imported. It waits while anything else does, leaderboards included.
"""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, delete, func, select, update
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge
from vocboard.app.database import insert_into, server_time
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.app.leaderboards.models import Rescore, RescoreState, SubmissionSequence
from vocboard.app.leaderboards.statistics import Failure
from vocboard.app.submissions.models import WITH_RESULT, Submission

VERSION = 3  # of the computation: increase it when the same submissions would give other numbers
MIN_SUBMISSIONS = 2


class Entrant(NamedTuple):
    """Somebody's submissions to a phase."""

    challenge_id: uuid.UUID
    phase_id: uuid.UUID
    team_id: uuid.UUID


class _State(NamedTuple):
    """What tells whether something has changed."""

    submissions: int
    latest_at: datetime
    decimals: int
    version: int


class Due(NamedTuple):
    """Somebody's submissions that are to be compared, and the state in which they were marked."""

    entrant: Entrant
    state: _State


def _is(entrant: Entrant) -> ColumnElement[bool]:
    return and_(
        SubmissionSequence.phase_id == entrant.phase_id,
        SubmissionSequence.team_id == entrant.team_id,
    )


def mark_changed(session: Session) -> None:
    """Mark the people whose submissions have changed since they were compared, and forget those with fewer than two.

    Where organisers leave statistics out, nothing is kept.
    """
    present = _present(session)
    stored = {Entrant(*row[:3]): row for row in session.execute(select(*_STORED))}
    for entrant in stored:
        if entrant not in present:
            session.execute(delete(SubmissionSequence).where(_is(entrant)))
    for entrant, (state, requested_at) in present.items():
        known = stored.get(entrant)
        if known is None:
            values = {**entrant._asdict(), **state._asdict(), "is_due": True}
            adding = insert_into(session, SubmissionSequence).values(values)
            session.execute(adding.on_conflict_do_nothing())  # another worker's
        elif _State(known.submissions, known.latest_at, known.decimals, known.version) != state or (
            requested_at is not None and known.computed_at is not None and known.computed_at < requested_at
        ):
            session.execute(update(SubmissionSequence).where(_is(entrant)).values(**state._asdict(), is_due=True))
    due = select(SubmissionSequence.challenge_id).where(SubmissionSequence.is_due.is_(True)).distinct()
    jobs.add_all(session, Kind.SEQUENCES, [(key, None) for key in session.scalars(due)])


_STORED = (
    SubmissionSequence.challenge_id,
    SubmissionSequence.phase_id,
    SubmissionSequence.team_id,
    SubmissionSequence.submissions,
    SubmissionSequence.latest_at,
    SubmissionSequence.decimals,
    SubmissionSequence.version,
    SubmissionSequence.computed_at,
)


def _present(session: Session) -> Mapping[Entrant, tuple[_State, datetime | None]]:
    """Return everybody with at least two submissions to a phase, and when organisers have last asked for statistics."""
    query = (
        select(
            Submission.challenge_id,
            Submission.phase_id,
            Submission.team_id,
            func.count(),
            func.max(Evaluation.created_at, type_=Evaluation.created_at.type),
            func.max(Rescore.finished_at, type_=Evaluation.created_at.type),  # its evaluations may be older than others
            Challenge.decimals,
            Challenge.statistics_requested_at,
        )
        .join(Evaluation, Evaluation.id == Submission.current_evaluation_id)
        .outerjoin(Rescore, and_(Rescore.scoring_id == Evaluation.scoring_id, Rescore.state == RescoreState.APPLIED))
        .join(Challenge, Challenge.id == Submission.challenge_id)
        .where(Challenge.statistics.is_(True), Submission.state.in_(WITH_RESULT), Submission.is_rehearsal.is_(False))
        .group_by(
            Submission.challenge_id,
            Submission.phase_id,
            Submission.team_id,
            Challenge.decimals,
            Challenge.statistics_requested_at,
        )
        .having(func.count() >= MIN_SUBMISSIONS)
    )
    return {
        Entrant(*row[:3]): (_State(number, max(stored_at, applied_at or stored_at), decimals, VERSION), requested_at)
        for row in session.execute(query)
        for number, stored_at, applied_at, decimals, requested_at in [row[3:]]
    }


def next_due(session: Session, challenge_id: uuid.UUID) -> Due | None:
    """Return whose submissions to a challenge were compared longest ago; None if nobody's are due."""
    row = session.execute(
        select(*_STORED[:-1])
        .where(SubmissionSequence.challenge_id == challenge_id, SubmissionSequence.is_due.is_(True))
        .order_by(SubmissionSequence.computed_at.asc().nulls_first(), SubmissionSequence.team_id)
        .limit(1)
    ).one_or_none()
    return None if row is None else Due(Entrant(*row[:3]), _State(*row[3:]))


def store(session: Session, due: Due, content: Mapping[str, Any]) -> None:
    """Store what was computed; it is not computed again until something changes, or has changed meanwhile."""
    as_marked = (getattr(SubmissionSequence, name) == value for name, value in due.state._asdict().items())
    values = {"is_due": False, "computed_at": server_time(session), "content": content}
    session.execute(update(SubmissionSequence).where(_is(due.entrant), *as_marked).values(**values))


def give_up(session: Session, challenge_id: uuid.UUID) -> None:
    """Record that the next entrant's submissions cannot be compared, because that has repeatedly stopped workers."""
    if (due := next_due(session, challenge_id)) is not None:
        store(session, due, {"failure": Failure.INTERRUPTED})
