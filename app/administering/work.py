"""Workers, and what they have to do: what waits, since when, and what has failed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now, server_time
from vocboard.app.jobs import heartbeats
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import MAIL_KINDS, Job, Kind, WorkerHeartbeat
from vocboard.app.submissions.models import State, Submission

LATELY = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker process.

    Attributes:
        host: name of the machine or container.
        looked_at: when it last looked for work.
        is_silent: whether that is too long ago.
    """

    host: str
    kind: str
    started_at: datetime
    looked_at: datetime
    is_silent: bool


@dataclass(frozen=True, slots=True)
class Work:
    """The unfinished jobs of one kind.

    Attributes:
        due: number of those that wait for a worker.
        due_since: of the one that waits longest.
        running: number of those that workers have claimed.
        later: number of those that are not due yet.
    """

    kind: Kind
    due: int
    due_since: datetime | None
    running: int
    later: int


@dataclass(frozen=True, slots=True)
class FailedJobs:
    """Jobs of one kind that have failed for one reason, and can be tried again."""

    kind: Kind
    failure: str
    count: int
    latest_at: datetime


@dataclass(frozen=True, slots=True)
class FailedSubmissions:
    """Submissions to a challenge whose evaluation has failed lately; its organisers have them evaluated again."""

    challenge: Challenge
    count: int
    latest_at: datetime


def workers(session: Session) -> Sequence[Worker]:
    """Return the workers that have looked for work within a day, by kind and host."""
    silent_before = server_time(session) - heartbeats.SILENT_AFTER
    found = select(WorkerHeartbeat).where(WorkerHeartbeat.kind != heartbeats.GROUND_TRUTH)
    return [
        Worker(one.host, one.kind, one.started_at, one.looked_at, one.looked_at < silent_before)
        for one in session.scalars(found.order_by(WorkerHeartbeat.kind, WorkerHeartbeat.host, WorkerHeartbeat.id))
    ]


def unfinished(session: Session) -> Sequence[Work]:
    """Return what is to be done, the most urgent kind first; without the sweeps, which come back by themselves."""
    instant = server_time(session)
    is_running = and_(Job.lease_id.is_not(None), Job.not_before > instant)
    is_due = Job.not_before <= instant
    rows = session.execute(
        select(
            Job.kind,
            func.count().filter(is_due).label("due"),
            func.min(Job.not_before, type_=Job.not_before.type).filter(is_due).label("due_since"),
            func.count().filter(is_running).label("running"),
            func.count().filter(~is_due, ~is_running).label("later"),
        )
        .where(Job.finished_at.is_(None), Job.kind.not_in(jobs.SWEEPS))
        .group_by(Job.kind)
    ).all()
    found = (Work(row.kind, row.due, row.due_since, row.running, row.later) for row in rows)
    return sorted(found, key=lambda one: jobs.PRIORITY[one.kind])


def failed(session: Session) -> Sequence[FailedJobs]:
    """Return jobs that have failed, but those of email; see `app.messaging.undelivered`."""
    latest_at = func.max(Job.finished_at, type_=Job.finished_at.type).label("latest_at")
    query = (
        select(Job.kind, Job.failure, func.count().label("number"), latest_at)
        .where(Job.failure.is_not(None), Job.finished_at.is_not(None), Job.kind.not_in(MAIL_KINDS))
        .group_by(Job.kind, Job.failure)
        .order_by(Job.kind, Job.failure)
    )
    return [FailedJobs(row.kind, str(row.failure), row.number, row.latest_at) for row in session.execute(query)]


def failed_submissions(session: Session) -> Sequence[FailedSubmissions]:
    """Return submissions that have failed in the last 30 days, by challenge, the latest first."""
    latest_at = func.max(Submission.finished_at, type_=Submission.finished_at.type)
    by_challenge = (
        select(Submission.challenge_id, func.count().label("count"), latest_at.label("latest_at"))
        .where(Submission.state == State.FAILED, Submission.finished_at > now() - LATELY)
        .group_by(Submission.challenge_id)
        .subquery()
    )
    query = select(Challenge, by_challenge.c.count, by_challenge.c.latest_at).join(
        by_challenge, by_challenge.c.challenge_id == Challenge.id
    )
    return [FailedSubmissions(*row) for row in session.execute(query.order_by(by_challenge.c.latest_at.desc()))]


def retry(session: Session, *, kind: Kind, failure: str, actor: User | None = None) -> int:
    """Let workers try jobs that have failed again; return how many."""
    keys = select(Job.key).where(Job.kind == kind, Job.failure == failure, Job.finished_at.is_not(None))
    found = session.scalars(keys.distinct()).all() if kind not in MAIL_KINDS else []
    if found:
        jobs.retry_failed(session, kind, found)
        details = {"kind": kind.value, "failure": failure, "count": len(found)}
        audit.record(session, actor=actor, action="job.retry", subject=audit.Row("jobs"), details=details)
    return len(found)
