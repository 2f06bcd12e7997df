"""What the database tells a monitoring system of the whole server; see `app.web.metrics`.

No worker needs a port for it, and every web process gives the same numbers. What passes is over the last `LATELY`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from sqlalchemy import ColumnElement, extract, func, select, text
from sqlalchemy.orm import InstrumentedAttribute, Session

from vocboard.app.administering import work
from vocboard.app.database import server_time
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.submissions.models import State, Submission

LATELY = timedelta(minutes=15)

# PostgreSQL does not tell a role the type of other roles' processes, but whether they have a role and a database.
_CONNECTIONS = (
    "SELECT count(*) FROM pg_stat_activity WHERE usesysid IS NOT NULL AND datid IS NOT NULL"
    " AND coalesce(backend_type, 'client backend') = 'client backend'"
)
_SHOWN = tuple(kind for kind in Kind if kind not in jobs.SWEEPS)


def measures(session: Session) -> Iterator[GaugeMetricFamily]:
    """Yield all of it."""
    yield from _jobs(session)
    yield _recent_jobs(session)
    yield from _failures(session)
    yield from _workers(session)
    yield from _database(session)


def _jobs(session: Session) -> Iterator[GaugeMetricFamily]:
    instant, found = server_time(session), {one.kind: one for one in work.unfinished(session)}
    counts, ages = [], []
    for kind in _SHOWN:
        one = found.get(kind)
        counts += [((kind, state), getattr(one, state, 0)) for state in ("due", "running", "later")]
        since = one.due_since if one else None
        ages.append(((kind,), (instant - since).total_seconds() if since else 0))
    yield gauge("jobs", "Unfinished jobs of the workers.", counts, "kind", "state")
    yield gauge("jobs_oldest_due_seconds", "How long the job that waits longest has been due.", ages, "kind")
    lost = select(Job.kind, func.count()).where(
        Job.finished_at.is_(None), Job.lease_id.is_not(None), Job.not_before <= instant, Job.kind.not_in(jobs.SWEEPS)
    )
    rows = {row[0]: row[1] for row in session.execute(lost.group_by(Job.kind))}
    yield gauge(
        "jobs_abandoned",
        "Jobs whose worker let its lease end, which another has not taken yet.",
        [((kind,), rows.get(kind, 0)) for kind in _SHOWN],
        "kind",
    )


def _recent_jobs(session: Session) -> GaugeMetricFamily:
    """Return how long jobs that were done lately have waited and run."""
    stages = {
        "waiting": _seconds(session, Job.created_at, Job.claimed_at),
        "running": _seconds(session, Job.claimed_at, Job.finished_at),
    }
    columns = [of(seconds) for seconds in stages.values() for of in (func.avg, func.max)]
    names = [(stage, value) for stage in stages for value in ("mean", "max")]
    done = Job.finished_at > server_time(session) - LATELY, Job.claimed_at.is_not(None), Job.failure.is_(None)
    rows = session.execute(select(Job.kind, *columns).where(*done).group_by(Job.kind)).all()
    return gauge(
        "jobs_lately_seconds",
        "Time that jobs done in the last 15 minutes have waited and run.",
        [((row[0], *name), value) for row in rows for name, value in zip(names, row[1:], strict=True)],
        "kind",
        "stage",
        "value",
    )


def _failures(session: Session) -> Iterator[GaugeMetricFamily]:
    is_final = Job.finished_at.is_not(None)
    failed = select(Job.kind, Job.failure, is_final, func.count()).where(Job.failure.is_not(None))
    rows = session.execute(failed.group_by(Job.kind, Job.failure, is_final))
    yield gauge(
        "jobs_failed",
        "Jobs whose last attempt has failed, and whether they will be tried again.",
        [((kind, str(failure), "no" if final else "yes"), number) for kind, failure, final, number in rows],
        "kind",
        "failure",
        "retried",
    )
    ended = select(Submission.state, func.count()).where(
        Submission.state.in_((State.SCORED, State.FAILED)), Submission.finished_at > server_time(session) - LATELY
    )
    numbers = {row[0]: row[1] for row in session.execute(ended.group_by(Submission.state))}
    yield gauge(
        "submissions_lately",
        "Submissions whose evaluation ended in the last 15 minutes.",
        [((state,), numbers.get(state, 0)) for state in (State.SCORED, State.FAILED)],
        "state",
    )


def _workers(session: Session) -> Iterator[GaugeMetricFamily]:
    instant, latest, numbers = server_time(session), dict[str, datetime](), defaultdict[str, int](int)
    for one in work.workers(session):
        latest[one.kind] = max(one.looked_at, latest.get(one.kind, one.looked_at))
        numbers[one.kind] += not one.is_silent
    yield gauge(
        "workers", "Workers that looked for work within a minute.", [((k,), n) for k, n in numbers.items()], "kind"
    )
    yield gauge(
        "workers_silent_seconds",
        "Time since any worker of a kind looked for work.",
        [((kind,), (instant - looked_at).total_seconds()) for kind, looked_at in latest.items()],
        "kind",
    )


def _database(session: Session) -> Iterator[GaugeMetricFamily]:
    if _is_sqlite(session):
        size = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
        used = most = None
    else:
        size = "SELECT pg_database_size(current_database())"
        used = session.scalar(text(_CONNECTIONS))
        most = session.scalar(text("SELECT current_setting('max_connections')::int"))
    yield gauge("database_bytes", "Size of the database.", [((), session.scalar(text(size)))])
    yield gauge("database_connections", "Open connections to PostgreSQL, of all clients.", [((), used)])
    yield gauge("database_connections_limit", "Connections that PostgreSQL accepts.", [((), most)])


def _seconds(
    session: Session, earlier: InstrumentedAttribute[Any], later: InstrumentedAttribute[Any]
) -> ColumnElement[Any]:
    if _is_sqlite(session):
        return (func.julianday(later) - func.julianday(earlier)) * timedelta(days=1).total_seconds()
    return extract("epoch", later - earlier)


def _is_sqlite(session: Session) -> bool:
    return session.get_bind().dialect.name == "sqlite"


def gauge(
    name: str, text: str, values: Iterable[tuple[tuple[str, ...], float | None]], *labels: str
) -> GaugeMetricFamily:
    """Return a family of gauges: the value of each combination of labels; None is left out."""
    family = GaugeMetricFamily(f"vocboard_{name}", text, labels=labels)
    for key, value in values:
        if value is not None:
            family.add_metric(key, float(value))
    return family
