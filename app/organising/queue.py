"""The queue as organisers see it: what waits, what runs, and whether workers look for work."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session, joinedload

from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now, server_time
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.jobs import heartbeats
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.submissions import queue
from vocboard.app.submissions.models import State, Submission

RECENTLY = timedelta(hours=1)
LATELY = timedelta(days=1)
MAX_LISTED = 100


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A submission that waits or runs.

    Attributes:
        place: 1 for the next of the whole server, None if it runs.
        attempts: number of evaluations that have begun.
    """

    submission: Submission
    place: int | None
    attempts: int


@dataclass(frozen=True, slots=True)
class Worker:
    """One kind of worker.

    Attributes:
        looked_at: when one of them last looked for work.
        is_silent: whether that is too long ago.
    """

    kind: str
    looked_at: datetime
    is_silent: bool


@dataclass(frozen=True, slots=True)
class QueueHealth:
    """The queue of the server, with this challenge's part of it.

    Attributes:
        waiting, running: submissions to any challenge.
        own_waiting, own_running: submissions to this one.
        waiting_since: when the submission to this challenge that waits longest was queued.
        scored_recently: evaluations of this challenge in the last hour.
        failed_lately: submissions to it that failed in the last day.
        mean_seconds: how long its evaluations of the last day took.
        workers: by kind; none if no worker has run for a day.
        unfinished: this challenge's, those that run first; at most `MAX_LISTED`.
    """

    waiting: int
    running: int
    own_waiting: int
    own_running: int
    waiting_since: datetime | None
    scored_recently: int
    failed_lately: int
    mean_seconds: float | None
    workers: Sequence[Worker]
    unfinished: Sequence[Unfinished]


def health(session: Session, challenge: Challenge) -> QueueHealth:
    """Return how the queue is, for an organiser of the challenge (the caller checks)."""
    instant = now()
    own = Submission.challenge_id == challenge.id
    own_waiting, own_running, waiting_since, failed_lately = session.execute(
        select(
            func.count().filter(Submission.state == State.QUEUED),
            func.count().filter(Submission.state == State.EVALUATING),
            func.min(Submission.queued_at, type_=Submission.queued_at.type).filter(Submission.state == State.QUEUED),
            func.count().filter(Submission.state == State.FAILED, Submission.finished_at > instant - LATELY),
        ).where(own, Submission.state.in_((*queue.UNFINISHED, State.FAILED)))
    ).one()
    scored_recently, mean_seconds = session.execute(
        select(func.count().filter(Evaluation.created_at > instant - RECENTLY), func.avg(Evaluation.seconds))
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(own, Evaluation.created_at > instant - LATELY)
    ).one()
    silent_before = server_time(session) - heartbeats.SILENT_AFTER
    return QueueHealth(
        waiting=queue.count(session, State.QUEUED),
        running=queue.count(session, State.EVALUATING),
        own_waiting=own_waiting,
        own_running=own_running,
        waiting_since=waiting_since,
        scored_recently=scored_recently,
        failed_lately=failed_lately,
        mean_seconds=mean_seconds,
        workers=[
            Worker(kind, looked_at, looked_at < silent_before)
            for kind, looked_at in sorted(heartbeats.last_polls(session).items())
            if kind != heartbeats.GROUND_TRUTH
        ],
        unfinished=_unfinished(session, challenge),
    )


def _unfinished(session: Session, challenge: Challenge) -> list[Unfinished]:
    places = queue.places(session, challenge.id, limit=MAX_LISTED)
    query = (
        select(Submission, func.coalesce(Job.attempts, 0))
        .outerjoin(Job, and_(Job.kind == Kind.EVALUATION, Job.key == Submission.id, Job.finished_at.is_(None)))
        .where(Submission.challenge_id == challenge.id)
        .where((Submission.state == State.EVALUATING) | Submission.id.in_(places))
        .options(joinedload(Submission.method), joinedload(Submission.user))
    )
    found = [Unfinished(item, places.get(item.id), attempts) for item, attempts in session.execute(query)]
    return sorted(found, key=lambda one: (one.place or 0, one.submission.queued_at, one.submission.id))
