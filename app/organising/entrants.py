"""The people who have submitted to a challenge: what they have used, and how far they have come."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges.bans import bans_of
from vocboard.app.challenges.editions import edition_of
from vocboard.app.challenges.models import Ban, Challenge, ChallengePhase
from vocboard.app.challenges.phases import phases_of
from vocboard.app.database import now
from vocboard.app.evaluations.models import CompetitionResult, Evaluation, Measure
from vocboard.app.evaluations.rounding import rounded
from vocboard.app.paging import LAST_PAGE, PER_PAGE, Page
from vocboard.app.submissions.models import Method, State, Submission
from vocboard.app.submissions.quota import Use, use_of_everyone
from vocboard.evaluator.names import Metric
from vocboard.evaluator.tasks.definitions import METRICS

ROWS_AT_ONCE = 1000


class Sort(StrEnum):
    """What entrants are sorted by."""

    LATEST = "latest"
    NAME = "name"
    SUBMISSIONS = "submissions"
    BEST = "best"
    IMPROVEMENT = "improvement"


@dataclass(slots=True)
class Progress:
    """One method's scored submissions to one competition in one phase; fractions, rounded.

    Attributes:
        phase: its key.
        method: its name.
        scored: how many have a mean.
        first: the mean of the first one.
        best: the best mean, by the direction of the metric.
        higher_is_better: the direction of the competition's metric.
    """

    phase: str
    method: str
    competition: str
    scored: int
    first: float
    best: float
    higher_is_better: bool

    @property
    def improvement(self) -> float:
        """How much better the best is than the first."""
        return self.best - self.first if self.higher_is_better else self.first - self.best

    @property
    def quality(self) -> float:
        """The best as a fraction of which higher is better, to compare competitions: metrics are within 0 and 1."""
        return self.best if self.higher_is_better else 1 - self.best


@dataclass(slots=True)
class Entrant:
    """One person.

    Attributes:
        submissions: all of them.
        quota: how much of it the person has used.
        progress: by phase, method and competition, in the order of the challenge and of the methods' first submissions.
        ban: from the challenge, if there is one.
    """

    user: User
    submissions: int
    published: int
    failed: int
    disqualified: int
    latest_at: datetime
    quota: Use
    ban: Ban | None
    progress: list[Progress] = field(default_factory=list)

    @property
    def best(self) -> float:
        """The best mean with any method (see `Progress.quality`); below all others if there is none."""
        return max((one.quality for one in self.progress), default=-1.0)

    @property
    def improvement(self) -> float:
        """The largest improvement of any method; below all others if there is none."""
        return max((one.improvement for one in self.progress), default=-1.0)


def page_of_entrants(
    session: Session, *, challenge: Challenge, sort: Sort = Sort.LATEST, page: int = 1, per_page: int = PER_PAGE
) -> Page[Entrant]:
    """Return some of those who have submitted to a challenge that the viewer organises (the caller checks)."""
    people = _without_progress(session, challenge)
    if by_progress := sort in {Sort.BEST, Sort.IMPROVEMENT}:
        _add_progress(session, challenge, people)
    listed = _sorted(people.values(), sort)
    page = min(max(page, 1), LAST_PAGE)
    shown = listed[(page - 1) * per_page : page * per_page]
    if not by_progress:
        of_these = {one.user.id: one for one in shown}
        _add_progress(session, challenge, of_these, Submission.user_id.in_(of_these))
    return Page(tuple(shown), page, per_page, len(listed))


def _without_progress(session: Session, challenge: Challenge) -> dict[uuid.UUID, Entrant]:
    query = (
        select(
            User,
            func.count(),
            func.count().filter(Submission.published_at.is_not(None)),
            func.count().filter(Submission.state == State.FAILED),
            func.count().filter(Submission.state == State.DISQUALIFIED),
            func.max(Submission.created_at, type_=Submission.created_at.type),
        )
        .join(Submission, Submission.user_id == User.id)
        .where(Submission.challenge_id == challenge.id)
        .group_by(User.id)
    )
    bans = {ban.user_id: ban for ban in bans_of(session, challenge.id)}
    uses = use_of_everyone(session, challenge, now=now())
    return {row[0].id: Entrant(*row, uses.get(row[0].id, Use()), bans.get(row[0].id)) for row in session.execute(query)}


def _sorted(found: Iterable[Entrant], sort: Sort) -> list[Entrant]:
    people = sorted(found, key=lambda entrant: (entrant.user.name.casefold(), entrant.user.email))
    match sort:
        case Sort.LATEST:
            people.sort(key=lambda entrant: entrant.latest_at, reverse=True)
        case Sort.SUBMISSIONS:
            people.sort(key=lambda entrant: entrant.submissions, reverse=True)
        case Sort.BEST:
            people.sort(key=lambda entrant: entrant.best, reverse=True)
        case Sort.IMPROVEMENT:
            people.sort(key=lambda entrant: entrant.improvement, reverse=True)
    return people


def _add_progress(
    session: Session, challenge: Challenge, found: Mapping[uuid.UUID, Entrant], *only: ColumnElement[bool]
) -> None:
    """Walk through all defined means of these people in the order of submission."""
    query = (
        select(
            Submission.user_id,
            ChallengePhase.key,
            Submission.method_id,
            Method.name,
            CompetitionResult.competition,
            Measure.metric,
            Measure.mean,
        )
        .join(ChallengePhase, ChallengePhase.id == Submission.phase_id)
        .join(Method, Method.id == Submission.method_id)
        .join(Evaluation, Evaluation.id == Submission.current_evaluation_id)
        .join(CompetitionResult, CompetitionResult.evaluation_id == Evaluation.id)
        .join(Measure, and_(Measure.result_id == CompetitionResult.id, Measure.position == 0))
        .where(
            Submission.challenge_id == challenge.id,
            Submission.state == State.SCORED,
            Measure.mean.is_not(None),
            *only,
        )
        .order_by(Submission.created_at, Submission.id)
        .execution_options(yield_per=ROWS_AT_ONCE)
    )
    by_place: dict[tuple[str, uuid.UUID, str], Progress] = {}
    for user_id, phase, method_id, method, competition, metric, unrounded in session.execute(query):
        mean = rounded(unrounded, challenge.decimals)
        if mean is None:
            continue
        known = by_place.get((phase, method_id, competition))
        if known is None:
            known = by_place[phase, method_id, competition] = Progress(
                phase, method, competition, 0, mean, mean, METRICS[Metric(metric)].higher_is_better
            )
            found[user_id].progress.append(known)
        known.scored += 1
        known.best = max(known.best, mean) if known.higher_is_better else min(known.best, mean)
    competitions = list(edition_of(challenge).competitions)
    phases = [phase.key for phase in phases_of(challenge)]
    for entrant in found.values():
        methods = list(dict.fromkeys(one.method for one in entrant.progress))
        entrant.progress.sort(
            key=lambda one, methods=methods: (  # type: ignore[misc]
                phases.index(one.phase),
                methods.index(one.method),
                competitions.index(one.competition) if one.competition in competitions else len(competitions),
            )
        )
