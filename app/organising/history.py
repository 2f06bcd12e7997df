"""How a challenge has gone: submissions and people over time, how long results took, and failures.

For its organisers. Rehearsals do not count. The database counts, so that it takes as long with many submissions.
"""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Label,
    String,
    and_,
    cast,
    extract,
    func,
    literal,
    null,
    select,
    union_all,
)
from sqlalchemy.orm import InstrumentedAttribute, Session

from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import Phase, PhaseState, phases_of
from vocboard.app.submissions.models import State, Submission

MAX_STEPS = 60
STEPS = tuple(timedelta(days=days) for days in (1, 7, 28, 91, 364))
MONDAY = datetime(1970, 1, 5, tzinfo=UTC)
MAX_FAILURES = 10


class Outcome(StrEnum):
    """What has become of a submission."""

    SCORED = "scored"
    FAILED = "failed"
    REMOVED = "removed"  # withdrawn or disqualified
    UNFINISHED = "unfinished"


@dataclass(slots=True)
class _Counts:
    """What `_counts` counts."""

    outcomes: dict[uuid.UUID, dict[Outcome, list[int]]]  # by phase
    published: int
    newcomers: list[int]
    returning: list[int]
    durations: dict[int, int]


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
class History:
    """How a challenge has gone.

    Attributes:
        submissions: all of them.
        people: who made them.
        newcomers: in each step, people who submitted for the first time.
        returning: in each step, other people who submitted.
        durations: how many submissions took so many seconds, from their place in the queue to their end.
        failures: messages to participants of failed submissions, the most frequent first.
    """

    steps: Steps
    submissions: int
    published: int
    people: int
    phases: tuple[PhaseHistory, ...]
    newcomers: Sequence[int]
    returning: Sequence[int]
    durations: Mapping[int, int]
    failures: tuple[tuple[str, int], ...]


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
    counts = _counts(session, own, steps)
    found = tuple(PhaseHistory(phase, counts.outcomes[phase.id]) for phase in phases if phase.id in counts.outcomes)
    return History(
        steps=steps,
        submissions=sum(one.total for one in found),
        published=counts.published,
        people=sum(counts.newcomers),
        phases=found,
        newcomers=counts.newcomers,
        returning=counts.returning,
        durations=counts.durations,
        failures=_failures(session, own),
    )


class _Part(StrEnum):
    """Which of the counts a row of the one statement is."""

    OUTCOMES = "outcomes"
    PEOPLE = "people"
    DURATIONS = "durations"


def _counts(session: Session, own: ColumnElement[bool], steps: Steps) -> _Counts:
    """Count all at once: reading the submissions takes the database longer than counting them."""
    seconds = cast(extract("epoch", Submission.finished_at) - extract("epoch", Submission.queued_at), BigInteger)
    columns = (Submission.user_id, Submission.phase_id, Submission.state, steps.number_of(Submission.created_at))
    published = cast(Submission.published_at.is_not(None), Integer).label("published")
    all_own = select(*columns, published, seconds.label("seconds")).where(own).cte("all_own")
    one, number = all_own.c, func.count()
    outcomes = select(literal(_Part.OUTCOMES), one.phase_id, one.state, one.step, number, func.sum(one.published))
    each = select(one.user_id, one.step).distinct().subquery()
    first = func.min(each.c.step).over(partition_by=each.c.user_id).label("first")
    with_first = select(each.c.step, first).subquery()
    is_new = with_first.c.step == with_first.c.first
    nothing = (cast(null(), one.phase_id.type), cast(null(), String))
    people = select(literal(_Part.PEOPLE), *nothing, with_first.c.step, number.filter(is_new), number.filter(~is_new))
    durations = select(literal(_Part.DURATIONS), *nothing, one.seconds, number, literal(0))
    has_ended = and_(one.state.in_([State.SCORED, State.FAILED]), one.seconds >= 0)
    query = union_all(
        outcomes.group_by(one.phase_id, one.state, one.step),
        people.group_by(with_first.c.step),
        durations.where(has_ended).group_by(one.seconds),
    )
    found = _Counts(defaultdict(dict), 0, [0] * steps.count, [0] * steps.count, {})
    for part, phase_id, state, value, count, more in session.execute(query):
        if part == _Part.DURATIONS:
            found.durations[value] = count
            continue
        step = steps.within(value)
        if part == _Part.PEOPLE:
            found.newcomers[step] += count
            found.returning[step] += more
        else:
            found.outcomes[phase_id].setdefault(_OUTCOMES[State(state)], [0] * steps.count)[step] += count
            found.published += int(more)
    return found


def _failures(session: Session, own: ColumnElement[bool]) -> tuple[tuple[str, int], ...]:
    count = func.count()
    query = select(Submission.failure, count).where(own, Submission.state == State.FAILED).group_by(Submission.failure)
    rows = session.execute(query.order_by(count.desc(), Submission.failure).limit(MAX_FAILURES))
    return tuple((failure or "", number) for failure, number in rows)
