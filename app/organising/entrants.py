"""The people who have submitted to a challenge: what they have used, and how far they have come."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, Select, Subquery, and_, case, func, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges.bans import bans_of
from vocboard.app.challenges.editions import edition_of
from vocboard.app.challenges.models import Ban, Challenge, ChallengePhase
from vocboard.app.challenges.phases import phases_of
from vocboard.app.database import now
from vocboard.app.evaluations.models import CompetitionResult, Measure
from vocboard.app.evaluations.rounding import rounded
from vocboard.app.organising.recent import Recent
from vocboard.app.paging import LAST_PAGE, PER_PAGE, Page
from vocboard.app.submissions.models import Method, State, Submission
from vocboard.app.submissions.quota import Use, quota_uses
from vocboard.evaluator.names import Metric
from vocboard.evaluator.tasks.definitions import METRICS

MANY = 1_000  # people; fewer are sorted within milliseconds
_orders: Recent[Sequence[uuid.UUID]] = Recent()


class EntrantSort(StrEnum):
    """What entrants are sorted by."""

    LATEST = "latest"
    NAME = "name"
    SUBMISSIONS = "submissions"
    BEST = "best"
    IMPROVEMENT = "improvement"


@dataclass(slots=True)
class Progress:
    """One method's scored submissions to one competition in one phase, without rehearsals; fractions, rounded.

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


def page_of_entrants(
    session: Session,
    *,
    challenge: Challenge,
    sort: EntrantSort = EntrantSort.LATEST,
    page: int = 1,
    per_page: int = PER_PAGE,
) -> Page[Entrant]:
    """Return some of those who have submitted to a challenge that the viewer organises (the caller checks).

    Where there are more than `MANY` people, their order is up to a minute old, and nothing else.
    """
    page = min(max(page, 1), LAST_PAGE)
    order = _orders.get((challenge.id, sort))
    if order is None:
        order = session.scalars(_in_order(challenge, sort)).all()
        if len(order) > MANY:
            _orders.keep((challenge.id, sort), order)
    ids = order[(page - 1) * per_page : page * per_page]
    figures = (
        select(
            Submission.user_id,
            func.count(),
            func.count().filter(Submission.published_at.is_not(None)),
            func.count().filter(Submission.state == State.FAILED),
            func.count().filter(Submission.state == State.DISQUALIFIED),
            func.max(Submission.created_at, type_=Submission.created_at.type),
        )
        .where(Submission.challenge_id == challenge.id, Submission.user_id.in_(ids))
        .group_by(Submission.user_id)
    )
    people = {user.id: user for user in session.scalars(select(User).where(User.id.in_(ids)))}
    found = {row[0]: row for row in session.execute(figures)}
    bans = {ban.user_id: ban for ban in bans_of(session, challenge.id)}
    uses = quota_uses(session, challenge, ids, now=now())
    shown = {
        id_: Entrant(people[id_], *found[id_][1:], uses.get(id_, Use()), bans.get(id_))
        for id_ in ids
        if id_ in people and id_ in found
    }
    _add_progress(session, challenge, shown)
    return Page(tuple(shown.values()), page, per_page, len(order))


def _in_order(challenge: Challenge, sort: EntrantSort) -> Select[uuid.UUID]:
    """Return the query of the ids of all entrants."""
    counted = (
        select(
            Submission.user_id,
            func.count().label("submissions"),
            func.max(Submission.created_at, type_=Submission.created_at.type).label("latest_at"),
        )
        .where(Submission.challenge_id == challenge.id)
        .group_by(Submission.user_id)
        .subquery()
    )
    query = select(User.id).join(counted, counted.c.user_id == User.id)
    match sort:
        case EntrantSort.LATEST:
            query = query.order_by(counted.c.latest_at.desc())
        case EntrantSort.SUBMISSIONS:
            query = query.order_by(counted.c.submissions.desc())
        case EntrantSort.BEST | EntrantSort.IMPROVEMENT:
            figure = _best(challenge) if sort is EntrantSort.BEST else _improvement(challenge)
            query = query.outerjoin(figure, figure.c.user_id == User.id).order_by(figure.c.figure.desc().nulls_last())
    return query.order_by(func.lower(User.name), User.email)


_MEANS = (
    select(
        Submission.user_id,
        Submission.phase_id,
        Submission.method_id,
        Submission.created_at,
        Submission.id,
        CompetitionResult.competition,
        Measure.metric,
        Measure.mean,
    )
    .join(CompetitionResult, CompetitionResult.evaluation_id == Submission.current_evaluation_id)
    .join(Measure, and_(Measure.result_id == CompetitionResult.id, Measure.position == 0))
    .where(Submission.state == State.SCORED, ~Submission.is_rehearsal, Measure.mean.is_not(None))
)


def _best(challenge: Challenge) -> Subquery:
    """Return the best mean of each person, rounded as it is shown; higher is better (see `Progress`)."""
    means, quality = _quality(challenge)
    best = _shown(func.max(quality), challenge)
    return select(means.c.user_id, best.label("figure")).group_by(means.c.user_id).subquery()


def _improvement(challenge: Challenge) -> Subquery:
    """Return the largest improvement of any method of each person's, of means rounded as they are shown."""
    means, quality = _quality(challenge)
    sequence = (means.c.method_id, means.c.competition, means.c.phase_id, means.c.user_id)  # sorted fastest so
    first = func.first_value(quality).over(partition_by=sequence, order_by=(means.c.created_at, means.c.id))
    each = select(means.c.user_id, quality.label("quality"), first.label("first")).subquery()
    improvement = func.max(_shown(each.c.quality, challenge) - _shown(each.c.first, challenge))
    return select(each.c.user_id, improvement.label("figure")).group_by(each.c.user_id).subquery()


def _quality(challenge: Challenge) -> tuple[Subquery, ColumnElement[float]]:
    """Return all defined means of a challenge, and the expression of them of which higher is better."""
    lower = [metric for metric, known in METRICS.items() if not known.higher_is_better]
    means = _MEANS.where(Submission.challenge_id == challenge.id).subquery()
    return means, case((means.c.metric.in_(lower), 1 - means.c.mean), else_=means.c.mean)


def _shown(fraction: ColumnElement[float], challenge: Challenge) -> ColumnElement[float]:
    return func.round(fraction * 10.0**challenge.decimals)  # in units of the last decimal


def _add_progress(session: Session, challenge: Challenge, found: Mapping[uuid.UUID, Entrant]) -> None:
    """Walk through all defined means of these people in the order of submission."""
    means = _MEANS.where(Submission.challenge_id == challenge.id, Submission.user_id.in_(found)).subquery()
    query = (
        select(
            means.c.user_id,
            ChallengePhase.key,
            means.c.method_id,
            Method.name,
            means.c.competition,
            means.c.metric,
            means.c.mean,
        )
        .join(ChallengePhase, ChallengePhase.id == means.c.phase_id)
        .join(Method, Method.id == means.c.method_id)
        .order_by(means.c.created_at, means.c.id)
    )
    by_place: dict[tuple[uuid.UUID, str, uuid.UUID, str], Progress] = {}
    for user_id, phase, method_id, method, competition, metric, unrounded in session.execute(query):
        mean = rounded(unrounded, challenge.decimals)
        if mean is None:
            continue
        known = by_place.get((user_id, phase, method_id, competition))
        if known is None:
            known = by_place[user_id, phase, method_id, competition] = Progress(
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
