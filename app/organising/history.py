"""How a challenge has gone: submissions and people over time, scores, how long results took, and failures.

For its organisers. Rehearsals do not count. The database counts, so that it takes as long with many submissions.
"""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from threading import Lock

from cachetools import TTLCache
from sqlalchemy import BigInteger, ColumnElement, Label, and_, cast, extract, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import Phase, PhaseState, phases_of
from vocboard.app.evaluations.models import CompetitionResult, Measure
from vocboard.app.leaderboards.models import ReportedResult
from vocboard.app.leaderboards.service import rules_of
from vocboard.app.submissions.models import State, Submission
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.names import Metric
from vocboard.evaluator.tasks.definitions import METRICS

MAX_STEPS = 60
STEPS = tuple(timedelta(days=days) for days in (1, 7, 28, 91, 364))
MONDAY = datetime(1970, 1, 5, tzinfo=UTC)
BINS = 1000  # of scores from 0 to 1
MAX_FAILURES = 10
KEPT_FOR = timedelta(minutes=1)  # counting 20,000 submissions takes the database more than 100 ms


class Outcome(StrEnum):
    """What has become of a submission."""

    SCORED = "scored"
    FAILED = "failed"
    REMOVED = "removed"  # withdrawn or disqualified
    UNFINISHED = "unfinished"


_OUTCOMES = {
    State.QUEUED: Outcome.UNFINISHED,
    State.EVALUATING: Outcome.UNFINISHED,
    State.SCORED: Outcome.SCORED,
    State.FAILED: Outcome.FAILED,
    State.WITHDRAWN: Outcome.REMOVED,
    State.DISQUALIFIED: Outcome.REMOVED,
}


@dataclass(frozen=True, slots=True)
class Steps:
    """Days or weeks, from the first submission on; weeks begin on Monday, in UTC."""

    start: datetime
    length: timedelta
    count: int

    @classmethod
    def between(cls, first: datetime, last: datetime) -> "Steps":
        """Return the shortest steps of which few enough hold both instants."""
        for length in STEPS:
            start = MONDAY + (first - MONDAY) // min(length, STEPS[1]) * min(length, STEPS[1])
            count = (last - start) // length + 1
            if count <= MAX_STEPS:
                break
        return cls(start, length, count)

    def number_of(self, instant: InstrumentedAttribute[datetime]) -> Label[int]:
        """Return the number of the step of a column, from 0; `within` corrects it."""
        seconds = cast(extract("epoch", instant), BigInteger) - int(self.start.timestamp())
        return (seconds // int(self.length.total_seconds())).label("step")

    def within(self, number: int) -> int:
        """Return the number of a step that exists: the database rounds to seconds, which may lead to the next one."""
        return min(max(number, 0), self.count - 1)

    def begin(self, number: int) -> datetime:
        """Return when a step begins."""
        return self.start + number * self.length


@dataclass(frozen=True, slots=True)
class PhaseHistory:
    """Submissions to a phase: for each outcome that occurs, their number in each step."""

    phase: Phase
    counts: Mapping[Outcome, Sequence[int]]

    @property
    def total(self) -> int:
        """Number of submissions."""
        return sum(map(sum, self.counts.values()))


@dataclass(frozen=True, slots=True)
class BoardScores:
    """The means of all scored submissions to a competition of a phase, and what was not scored here.

    Attributes:
        bins: number of submissions by their mean in thousandths.
        best: fraction.
        reported: method and mean of each baseline and result from a paper.
    """

    phase: Phase
    competition: Competition
    bins: Mapping[int, int]
    best: float
    higher_is_better: bool
    reported: tuple[tuple[str, float], ...]

    @property
    def scored(self) -> int:
        """Number of submissions."""
        return sum(self.bins.values())

    @property
    def median(self) -> float:
        """To a thousandth."""
        return quantile(self.bins, 0.5) / BINS


@dataclass(frozen=True, slots=True)
class History:
    """How a challenge has gone.

    Attributes:
        submissions: all of them.
        people: who made them; teams and methods are those that they belong to.
        newcomers: in each step, people who submitted for the first time.
        returning: in each step, other people who submitted.
        durations: how many submissions took so many seconds, from their place in the queue to their end.
        failures: messages to participants of failed submissions, the most frequent first.
    """

    steps: Steps
    submissions: int
    published: int
    people: int
    teams: int
    methods: int
    phases: tuple[PhaseHistory, ...]
    newcomers: Sequence[int]
    returning: Sequence[int]
    boards: tuple[BoardScores, ...]
    durations: Mapping[int, int]
    failures: tuple[tuple[str, int], ...]


_recent: TTLCache[uuid.UUID, History | None] = TTLCache(maxsize=100, ttl=KEPT_FOR.total_seconds())
_lock = Lock()


def quantile(counts: Mapping[int, int], share: float) -> int:
    """Return the smallest value that at least this share of the values does not exceed.

    >>> quantile({1: 2, 5: 1, 9: 1}, 0.5), quantile({1: 2, 5: 1, 9: 1}, 0.9)
    (1, 9)
    """
    needed = share * sum(counts.values())
    seen = 0
    for value in sorted(counts):
        seen += counts[value]
        if seen >= needed:
            return value
    raise ValueError("there are no values")


def recent_history(session: Session, challenge: Challenge, *, at: datetime) -> History | None:
    """Return what `history` does, or what it returned at most `KEPT_FOR` ago in this process."""
    with _lock:
        if challenge.id in _recent:
            return _recent[challenge.id]
    found = history(session, challenge, at=at)
    with _lock:
        _recent[challenge.id] = found
    return found


def history(session: Session, challenge: Challenge, *, at: datetime) -> History | None:
    """Return how a challenge has gone; None before its first submission.

    Args:
        challenge: with its phases; the viewer organises it (the caller checks).
        at: the current time, which the time axis reaches while a phase is open.
    """
    own = and_(Submission.challenge_id == challenge.id, Submission.is_rehearsal.is_(False))
    column = Submission.created_at
    first, last = session.execute(
        select(
            func.min(column, type_=column.type),
            func.max(column, type_=column.type),
        ).where(own)
    ).one()
    if first is None:
        return None
    phases = phases_of(challenge)
    is_open = any(phase.state(at) is PhaseState.OPEN for phase in phases)
    steps = Steps.between(first, max(last, at) if is_open else last)
    of_methods = select(Submission.method_id, Submission.team_id).where(own).distinct().subquery()
    methods, teams = session.execute(
        select(func.count(), func.count(of_methods.c.team_id.distinct())).select_from(of_methods)
    ).one()
    counts, published = _outcomes(session, own, steps)
    newcomers, returning = _people(session, own, steps)
    found = tuple(PhaseHistory(phase, counts[phase.id]) for phase in phases if phase.id in counts)
    return History(
        steps=steps,
        submissions=sum(one.total for one in found),
        published=published,
        people=sum(newcomers),
        teams=teams,
        methods=methods,
        phases=found,
        newcomers=newcomers,
        returning=returning,
        boards=_boards(session, challenge, own, phases),
        durations=_durations(session, own),
        failures=_failures(session, own),
    )


def _outcomes(
    session: Session, own: ColumnElement[bool], steps: Steps
) -> tuple[dict[uuid.UUID, dict[Outcome, list[int]]], int]:
    step = steps.number_of(Submission.created_at)
    published = func.count().filter(Submission.published_at.is_not(None))
    query = select(Submission.phase_id, Submission.state, step, func.count(), published)
    by = (Submission.phase_id, Submission.state, step)
    known: dict[uuid.UUID, dict[Outcome, list[int]]] = defaultdict(dict)
    all_published = 0
    for phase_id, state, number, count, shown in session.execute(query.where(own).group_by(*by)):
        counts = known[phase_id].setdefault(_OUTCOMES[state], [0] * steps.count)
        counts[steps.within(number)] += count
        all_published += shown
    return known, all_published


def _people(session: Session, own: ColumnElement[bool], steps: Steps) -> tuple[list[int], list[int]]:
    step = steps.number_of(Submission.created_at)
    each = select(Submission.user_id, step).where(own).distinct().subquery()
    first = func.min(each.c.step).over(partition_by=each.c.user_id).label("first")
    with_first = select(each.c.step, first).subquery()
    is_new = with_first.c.step == with_first.c.first
    newcomers, returning = [0] * steps.count, [0] * steps.count
    query = select(with_first.c.step, func.count().filter(is_new), func.count().filter(~is_new))
    for number, new, others in session.execute(query.group_by(with_first.c.step)):
        newcomers[steps.within(number)] += new
        returning[steps.within(number)] += others
    return newcomers, returning


def _boards(
    session: Session, challenge: Challenge, own: ColumnElement[bool], phases: Sequence[Phase]
) -> tuple[BoardScores, ...]:
    in_bin = cast(func.round(Measure.mean * BINS), BigInteger)
    key = (Submission.phase_id, CompetitionResult.competition, Measure.metric)
    query = (
        select(*key, in_bin, func.count(), func.min(Measure.mean), func.max(Measure.mean))
        .join(CompetitionResult, CompetitionResult.evaluation_id == Submission.current_evaluation_id)
        .join(Measure, and_(Measure.result_id == CompetitionResult.id, Measure.position == 0))
        .where(own, Submission.state == State.SCORED, Measure.mean.is_not(None))
        .group_by(*key, in_bin)
    )
    rows: dict[tuple[uuid.UUID, str], list[tuple[bool, int, int, float, float]]] = defaultdict(list)
    for phase_id, competition, metric, number, count, low, high in session.execute(query):
        if low is not None and high is not None:
            higher = METRICS[Metric(metric)].higher_is_better
            rows[phase_id, competition].append((higher, number, count, low, high))
    reported: dict[tuple[uuid.UUID, str], list[tuple[str, float]]] = defaultdict(list)
    of_challenge = select(ReportedResult).where(
        ReportedResult.challenge_id == challenge.id, ReportedResult.mean.is_not(None)
    )
    for one in session.scalars(of_challenge.order_by(ReportedResult.mean)):
        reported[one.phase_id, one.competition].append((one.method, one.mean or 0.0))
    found = []
    for phase in phases:
        for name in phase.competitions:
            if known := rows.get((phase.id, name)):
                higher = known[0][0]
                best = max(row[4] for row in known) if higher else min(row[3] for row in known)
                bins = {row[1]: row[2] for row in known}
                others = tuple(reported[phase.id, name])
                found.append(BoardScores(phase, rules_of(challenge, phase, name), bins, best, higher, others))
    return tuple(found)


def _durations(session: Session, own: ColumnElement[bool]) -> dict[int, int]:
    seconds = cast(extract("epoch", Submission.finished_at) - extract("epoch", Submission.queued_at), BigInteger)
    has_ended = and_(Submission.state.in_([State.SCORED, State.FAILED]), Submission.finished_at >= Submission.queued_at)
    return {
        row[0]: row[1] for row in session.execute(select(seconds, func.count()).where(own, has_ended).group_by(seconds))
    }


def _failures(session: Session, own: ColumnElement[bool]) -> tuple[tuple[str, int], ...]:
    count = func.count()
    query = select(Submission.failure, count).where(own, Submission.state == State.FAILED).group_by(Submission.failure)
    rows = session.execute(query.order_by(count.desc(), Submission.failure).limit(MAX_FAILURES))
    return tuple((failure or "", number) for failure, number in rows)
