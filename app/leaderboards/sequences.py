"""The submissions of one method to a phase, in the order of time, and which of them differ by more than chance."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, PlainSerializer
from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session

from vocboard.app.evaluations.models import CompetitionResult, Evaluation, Measure
from vocboard.app.leaderboards.statistics import Failure, Stored
from vocboard.app.submissions.models import WITH_RESULT, Method, Submission, SubmissionEntry

MAX_SUBMISSIONS = 300  # of one person to one competition that are compared: the latest


class SequenceKey(NamedTuple):
    """What a sequence is of, in one phase."""

    team_id: uuid.UUID
    competition: str
    method_id: uuid.UUID

    @property
    def stored(self) -> str:
        """Where the statistics of a person have it."""
        return f"{self.competition} {self.method_id}"


class Member(NamedTuple):
    """One submission of a sequence: one that entered every class, and whose mean is defined."""

    team_id: uuid.UUID
    competition: str
    method_id: uuid.UUID
    submission_id: uuid.UUID
    result_id: uuid.UUID
    method: str
    submitted_at: datetime
    mean: float


class Change(NamedTuple):
    """The score of a submission minus that of an earlier one.

    Attributes:
        low, high: ends of the simultaneous 95 % interval: fractions, rounded.
        is_significant: whether the unrounded interval does not contain 0.
    """

    low: float
    high: float
    is_significant: bool

    def is_better(self, *, higher_is_better: bool) -> bool:
        """Whether the later submission is better by more than chance, as the rounded interval shows it."""
        return self.is_significant and self._upwards * (1 if higher_is_better else -1) > 0

    def is_worse(self, *, higher_is_better: bool) -> bool:
        """Whether the later submission is worse by more than chance, as the rounded interval shows it."""
        return self.is_significant and self._upwards * (1 if higher_is_better else -1) < 0

    @property
    def _upwards(self) -> float:
        """Above 0 for a higher score, below 0 for a lower one; 0 if both ends are rounded to 0."""
        return self.low + self.high


# Earlier versions also stored the sign of the unrounded difference.
StoredChange = Annotated[Change, BeforeValidator(lambda stored: stored[:3])]


@dataclass(frozen=True, slots=True)
class SequenceStatistics(Stored):
    """The changes in the sequence of one person and competition.

    Attributes:
        results: ids of the results that were compared.
        steps: of each submission but the first to the one before; None where not reported.
        overall: of the last to the first.
        failure: why there are no changes; None if there are.
    """

    results: Sequence[uuid.UUID]
    steps: Sequence[StoredChange | None]
    overall: StoredChange | None
    failure: Failure | None = None


class Verdict(StrEnum):
    """Whether the scores of an entrant's submissions improve, by the differences that are significant."""

    IMPROVED = "improved"  # overall, and in a step
    GRADUAL = "gradual"  # overall, but in no step
    WORSE = "worse"  # overall
    VARIES = "varies"  # in some step, but not overall
    NO_DIFFERENCE = "no_difference"  # neither overall nor in a step
    UNKNOWN = "unknown"  # too few images determine the differences


def verdict(found: SequenceStatistics, *, higher_is_better: bool) -> Verdict:
    """Return what the changes of a sequence say about it."""
    if found.overall is None:
        return Verdict.UNKNOWN
    known = [step for step in found.steps if step is not None]
    if found.overall.is_better(higher_is_better=higher_is_better):
        is_in_step = any(step.is_better(higher_is_better=higher_is_better) for step in known)
        return Verdict.IMPROVED if is_in_step else Verdict.GRADUAL
    if found.overall.is_worse(higher_is_better=higher_is_better):
        return Verdict.WORSE
    return Verdict.VARIES if any(step.is_significant for step in known) else Verdict.NO_DIFFERENCE


def members(
    session: Session,
    phase_id: uuid.UUID,
    *,
    team_id: uuid.UUID | None = None,
    competition: str | None = None,
    methods: Collection[uuid.UUID] | None = None,
) -> Mapping[SequenceKey, Sequence[Member]]:
    """Return the sequences of a phase, by person, competition and method, in the order of submission.

    Published or not. Rehearsals are left out, and results whose means cannot be compared: over
    fewer classes, or undefined.

    Args:
        team_id: only this person's.
        competition: only in this one.
        methods: only these.
    """
    query = (
        select(
            Submission.team_id,
            CompetitionResult.competition,
            Submission.method_id,
            Submission.id,
            CompetitionResult.id,
            Method.name,
            Submission.created_at,
            Measure.mean,
            CompetitionResult.not_entered,
        )
        .join(Evaluation, Evaluation.id == Submission.current_evaluation_id)
        .join(CompetitionResult, CompetitionResult.evaluation_id == Evaluation.id)
        .join(Measure, and_(Measure.result_id == CompetitionResult.id, Measure.position == 0))
        .join(Method, Method.id == Submission.method_id)
        .where(*_in_sequences(phase_id), Measure.mean.is_not(None))
        .order_by(Submission.created_at, Submission.id)
    )
    if team_id is not None:
        query = query.where(Submission.team_id == team_id)
    if competition is not None:
        query = query.where(CompetitionResult.competition == competition)
    if methods is not None:
        query = query.where(Submission.method_id.in_(methods))
    found: defaultdict[SequenceKey, list[Member]] = defaultdict(list)
    for row in session.execute(query):
        *_, not_entered = row
        member = Member._make(row[:-1])
        if not not_entered:
            found[SequenceKey(member.team_id, member.competition, member.method_id)].append(member)
    return found


@dataclass(frozen=True, slots=True)
class Lengths:
    """How many submissions methods have made to a competition, also those whose means cannot be compared.

    Attributes:
        longest: the methods with most submissions, at least two.
        several: number of methods with at least two.
        one: number of methods with one.
    """

    longest: Sequence[uuid.UUID] = ()
    several: int = 0
    one: int = 0


def lengths(session: Session, phase_id: uuid.UUID, competition: str, *, limit: int) -> Lengths:
    """Return how many submissions methods have made to a competition of a phase; at most `limit` of the longest."""
    each = (
        select(Submission.method_id, func.count().label("number"))
        .join(SubmissionEntry, SubmissionEntry.submission_id == Submission.id)
        .where(*_in_sequences(phase_id), SubmissionEntry.competition == competition)
        .group_by(Submission.method_id)
        .subquery()
    )
    several, one = (func.count().filter(condition).over() for condition in (each.c.number > 1, each.c.number == 1))
    query = select(each.c.method_id, each.c.number, several, one).order_by(each.c.number.desc(), each.c.method_id)
    rows = session.execute(query.limit(limit)).all()
    if not rows:
        return Lengths()
    return Lengths([row.method_id for row in rows if row.number > 1], *rows[0][2:])


def _in_sequences(phase_id: uuid.UUID) -> tuple[ColumnElement[bool], ...]:
    """Which submissions of a phase sequences are made of: also disqualified ones, whose scores have been seen."""
    return Submission.phase_id == phase_id, Submission.state.in_(WITH_RESULT), Submission.is_rehearsal.is_(False)


def compared(sequence: Sequence[Member]) -> Sequence[Member]:
    """Return the submissions of a sequence that are compared: the latest."""
    return sequence[-MAX_SUBMISSIONS:]


AGREEMENT_DECIMALS = 2
MIN_IMAGES = 10  # in which a method finds something, and in which it misses something; others are not reported


class Combination(NamedTuple):
    """What the first methods of a leaderboard reach together; see `evaluator.statistics.across.RankCombination`.

    Attributes:
        methods: how many of them are combined.
        score: the mean of the combination: a fraction, rounded.
        change: the difference from the first method alone; None if not reported.
    """

    methods: int
    score: float
    change: StoredChange | None


def _above_diagonal(correlations: Sequence[Sequence[float | None]]) -> list[list[float | None]]:
    return [list(row[place + 1 :]) for place, row in enumerate(correlations)]


def _mirrored(upper: Sequence[Sequence[float | None]]) -> list[list[float | None]]:
    places = range(len(upper))
    return [[1.0 if a == b else upper[min(a, b)][abs(a - b) - 1] for b in places] for a in places]


@dataclass(frozen=True, slots=True)
class Agreement(Stored):
    """What methods have in common.

    Attributes:
        results: ids of `CompetitionResult`, in the order of the rows.
        found: the mean share of the positives of a class in an image that each finds: a fraction, rounded.
        correlations: (m, m) of what two methods find, rounded; None if not reported. The part above the diagonal is
            stored.
        combinations: of more and more methods; none where their results cannot be combined.
    """

    results: Sequence[uuid.UUID]
    found: Sequence[float]
    correlations: Annotated[
        Sequence[Sequence[float | None]], BeforeValidator(_mirrored), PlainSerializer(_above_diagonal)
    ]
    combinations: Sequence[Combination] = ()  # frozen leaderboards may have none
