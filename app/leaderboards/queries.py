"""The leaderboards' database queries. Statements are built once, because building one takes longer than running it."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Select, and_, bindparam, func, select
from sqlalchemy.orm import Session, aliased

from vocboard.app.accounts.models import User
from vocboard.app.challenges import queries as challenges
from vocboard.app.challenges.models import Challenge
from vocboard.app.evaluations.models import (
    ClassScore,
    CompetitionResult,
    Evaluation,
    Measure,
)
from vocboard.app.leaderboards.corrections import removed_submissions
from vocboard.app.leaderboards.models import FrozenLeaderboard, LeaderboardRevision, ReportedResult
from vocboard.app.submissions.models import Method, State, Submission, SubmissionEntry
from vocboard.app.teams.models import Team
from vocboard.app.teams.queries import teams_of
from vocboard.evaluator.editions import Metric

_OTHER = aliased(Measure)
_IS_ENTRY = and_(
    SubmissionEntry.submission_id == Submission.id,
    SubmissionEntry.competition == CompetitionResult.competition,
    SubmissionEntry.is_private.is_(False),
)
_IS_PUBLISHED = (Submission.state == State.SCORED, Submission.published_at.is_not(None))


_REPORTED = (
    select(ReportedResult)
    .where(
        ReportedResult.phase_id == bindparam("phase_id"),
        ReportedResult.competition == bindparam("competition"),
    )
    .order_by(ReportedResult.created_at, ReportedResult.id)
)


class Revision(NamedTuple):
    """Identifies one state of a challenge's leaderboards."""

    challenge_id: uuid.UUID
    number: int


_REVISION = select(Challenge.id, LeaderboardRevision.revision).join(
    LeaderboardRevision, LeaderboardRevision.challenge_id == Challenge.id
)
_REVISION_FOR_VISITORS = _REVISION.where(*challenges.is_visible(bindparam("slug"), None))
_PUBLISHED = (
    select(
        Submission.id,
        Submission.created_at,
        Submission.began_at,
        func.coalesce(SubmissionEntry.published_at, Submission.published_at).label("published_at"),
        Submission.publish_when_scored,
        Submission.contributors,
        Submission.affiliation,
        Submission.declarations,
        Submission.flickr_count,
        Method.id.label("method_id"),
        Method.name,
        Method.paper_url,
        Method.code_url,
        Team.name.label("team"),
        CompetitionResult.id.label("result_id"),
        CompetitionResult.not_entered,
        Measure.id.label("measure_id"),
        Measure.mean,
        Measure.mean_over,
    )
    .select_from(Submission)
    .join(Method, Method.id == Submission.method_id)
    .join(Team, Team.id == Submission.team_id)
    .join(Evaluation, Evaluation.id == Submission.current_evaluation_id)
    .join(CompetitionResult, CompetitionResult.evaluation_id == Evaluation.id)
    .join(Measure, and_(Measure.result_id == CompetitionResult.id, Measure.position == 0))
    .join(SubmissionEntry, _IS_ENTRY)
    .where(
        Submission.phase_id == bindparam("phase_id"),
        *_IS_PUBLISHED,
        CompetitionResult.competition == bindparam("competition"),
    )
    .order_by(Submission.created_at, Submission.id)
)
_ONLY_PUBLISHED = _PUBLISHED.where(Submission.id.in_(bindparam("only", expanding=True)))


def _values_of(published: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    measures = published.with_only_columns(Measure.id, maintain_column_froms=True).order_by(None)
    return select(ClassScore.measure_id, ClassScore.class_name, ClassScore.value).where(
        ClassScore.measure_id.in_(measures)
    )


def _other_measures_of(published: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    results = published.with_only_columns(CompetitionResult.id, maintain_column_froms=True).order_by(None)
    return (
        select(_OTHER.result_id, _OTHER.metric, _OTHER.mean, ClassScore.class_name, ClassScore.value)
        .outerjoin(ClassScore, ClassScore.measure_id == _OTHER.id)
        .where(_OTHER.result_id.in_(results), _OTHER.metric.in_(bindparam("metrics", expanding=True)))
    )


_VALUES, _ONLY_VALUES = _values_of(_PUBLISHED), _values_of(_ONLY_PUBLISHED)
_OTHER_MEASURES, _ONLY_OTHER_MEASURES = _other_measures_of(_PUBLISHED), _other_measures_of(_ONLY_PUBLISHED)


def revision(session: Session, slug: str, viewer: User | None) -> Revision | None:
    """Return the revision of a challenge's leaderboards, which changes whenever they do.

    None if the user can see no such challenge.
    """
    if not (slug.isascii() and slug.isprintable()):  # not a slug; PostgreSQL rejects some of these characters
        return None
    query = _REVISION_FOR_VISITORS
    if viewer is not None:
        query = _REVISION.where(*challenges.is_visible(bindparam("slug"), viewer))
    row = session.execute(query, {"slug": slug}).one_or_none()
    return None if row is None else Revision(*row)


def revisions(session: Session, challenge_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Revision]:
    """Return the same of challenges that the viewer can see (the caller checks), by their ids."""
    return {row[0]: Revision(*row) for row in session.execute(_REVISION.where(Challenge.id.in_(challenge_ids)))}


def published(
    session: Session,
    phase_id: uuid.UUID,
    competition: str,
    *,
    only: Sequence[uuid.UUID] | None = None,
) -> Sequence[Any]:
    """Return everything of a phase's published submissions but the scores of classes, in the order of submission.

    Args:
        only: submissions to return; all by default. This is so for all queries of this module.
    """
    query, parameters = _PUBLISHED, _of(phase_id, competition)
    if only is not None:
        query, parameters = _ONLY_PUBLISHED, parameters | {"only": only}
    return session.execute(query, parameters).all()


def values(
    session: Session,
    phase_id: uuid.UUID,
    competition: str,
    *,
    only: Sequence[uuid.UUID] | None = None,
) -> Mapping[uuid.UUID, Mapping[str, float | None]]:
    """Return the unrounded scores of each published primary measure, by class."""
    found: defaultdict[uuid.UUID, dict[str, float | None]] = defaultdict(dict)
    query, parameters = _VALUES, _of(phase_id, competition)
    if only is not None:
        query, parameters = _ONLY_VALUES, parameters | {"only": only}
    for measure_id, name, value in session.execute(query, parameters):
        found[measure_id][name] = value
    return found


def other_measures(
    session: Session,
    phase_id: uuid.UUID,
    competition: str,
    metrics: Collection[Metric],
    *,
    only: Sequence[uuid.UUID] | None = None,
) -> Mapping[uuid.UUID, Mapping[Metric, tuple[float | None, Mapping[str, float | None]]]]:
    """Return the unrounded means and class scores of secondary metrics, by result."""
    found: defaultdict[uuid.UUID, dict[Metric, tuple[float | None, dict[str, float | None]]]] = defaultdict(dict)
    if not metrics:
        return found
    query = _OTHER_MEASURES
    parameters = _of(phase_id, competition) | {"metrics": [metric.value for metric in metrics]}
    if only is not None:
        query, parameters = _ONLY_OTHER_MEASURES, parameters | {"only": only}
    for result_id, metric, mean, name, value in session.execute(query, parameters):
        _, scores = found[result_id].setdefault(Metric(metric), (mean, {}))
        if name is not None:
            scores[name] = value
    return found


def links(session: Session, phase_id: uuid.UUID) -> Sequence[Any]:
    """Return the published submissions of a phase, each with the id and the links of its method."""
    query = (
        select(Submission.id, Method.id.label("method_id"), Method.paper_url, Method.code_url)
        .join(Method, Method.id == Submission.method_id)
        .where(Submission.phase_id == phase_id, *_IS_PUBLISHED)
    )
    return session.execute(query).all()


def counts(session: Session, phase_id: uuid.UUID) -> Mapping[str, int]:
    """Return how many published results a phase has, by competition."""
    query = (
        select(CompetitionResult.competition, func.count())
        .select_from(Submission)
        .join(CompetitionResult, CompetitionResult.evaluation_id == Submission.current_evaluation_id)
        .join(SubmissionEntry, _IS_ENTRY)
        .where(Submission.phase_id == phase_id, *_IS_PUBLISHED)
        .group_by(CompetitionResult.competition)
    )
    return {row[0]: row[1] for row in session.execute(query)}


def frozen_counts(session: Session, phase_id: uuid.UUID, frozen_at: datetime) -> Mapping[str, int]:
    """Return how many results the frozen leaderboards of a phase show, by competition."""
    copies = (FrozenLeaderboard.phase_id == phase_id, FrozenLeaderboard.frozen_at == frozen_at)
    removed = removed_submissions(session, phase_id)
    if removed:
        rows = session.scalars(select(FrozenLeaderboard).where(*copies))
        return {row.competition: sum(e["submission"] not in removed for e in row.content["entries"]) for row in rows}
    query = select(FrozenLeaderboard.competition, func.json_array_length(FrozenLeaderboard.content["entries"]))
    return {row[0]: row[1] for row in session.execute(query.where(*copies))}


def has_frozen_before(session: Session, challenge: Challenge, at: datetime) -> bool:
    """Whether a frozen leaderboard of a challenge has results and is of an earlier date."""
    query = select(FrozenLeaderboard.id).where(
        FrozenLeaderboard.challenge_id == challenge.id,
        FrozenLeaderboard.frozen_at < at,
        func.json_array_length(FrozenLeaderboard.content["entries"]) > 0,
    )
    return session.scalar(query.limit(1)) is not None


def submitted_by(session: Session, challenge: Challenge, user: User) -> frozenset[uuid.UUID]:
    """Return the submissions of a person's team to a challenge; frozen leaderboards also show what is private now."""
    query = select(Submission.id).where(Submission.challenge_id == challenge.id, Submission.team_id.in_(teams_of(user)))
    return frozenset(session.scalars(query))


def all_submitted_by(session: Session, user: User) -> frozenset[uuid.UUID]:
    """Return the submissions of a person's teams to all challenges."""
    return frozenset(session.scalars(select(Submission.id).where(Submission.team_id.in_(teams_of(user)))))


def reported(session: Session, phase_id: uuid.UUID, competition: str) -> tuple[ReportedResult, ...]:
    """Return a leaderboard's results that were not scored here, in the order in which they were added."""
    return tuple(session.scalars(_REPORTED, _of(phase_id, competition)))


def _of(phase_id: uuid.UUID, competition: str) -> dict[str, Any]:
    return {"phase_id": phase_id, "competition": competition}


def revision_number(session: Session, challenge_id: uuid.UUID) -> int:
    """Return the current revision of a challenge's leaderboards."""
    query = select(LeaderboardRevision.revision).where(LeaderboardRevision.challenge_id == challenge_id)
    return session.scalar(query) or 0
