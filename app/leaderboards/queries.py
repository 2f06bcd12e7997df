"""What leaderboards ask of the database. The statements are made once: to make one takes longer than to run it."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

from sqlalchemy import and_, bindparam, select
from sqlalchemy.orm import Session

from app.challenges.models import Challenge
from app.evaluations.models import ClassScore, CompetitionResult, Evaluation, Measure
from app.submissions.models import Method, State, Submission
from evaluator.editions import Metric

_CONDITIONS = (
    Submission.challenge_id == bindparam("challenge_id"),
    Submission.state == State.SCORED,
    Submission.published_at.is_not(None),
)
# What a board shows of submissions and may change. All else is the result's, which is never changed, only replaced by
# another one. Subqueries, so that PostgreSQL looks up what belongs to the few that are published and reads no table.
_STATE = (
    select(
        select(CompetitionResult.id)
        .join(Evaluation, Evaluation.id == CompetitionResult.evaluation_id)
        .where(
            Evaluation.submission_id == Submission.id,
            Evaluation.scoring_id == bindparam("scoring_id"),
            CompetitionResult.competition == bindparam("competition"),
        )
        .scalar_subquery(),
        select(Method.name).where(Method.id == Submission.method_id).scalar_subquery(),
        Submission.contributors,
        Submission.affiliation,
        Submission.training_data,
        Submission.training_annotation,
        Submission.flickr_images,
        Submission.flickr_count,
    )
    .where(*_CONDITIONS)
    .order_by(Submission.created_at, Submission.id)
)
_PUBLISHED = (
    select(
        Submission.id,
        Submission.created_at,
        Submission.contributors,
        Submission.affiliation,
        Submission.training_data,
        Submission.training_annotation,
        Submission.flickr_images,
        Submission.flickr_count,
        Method.name,
        CompetitionResult.id.label("result_id"),
        CompetitionResult.not_entered,
        Measure.id.label("measure_id"),
        Measure.mean,
        Measure.mean_over,
    )
    .select_from(Submission)
    .join(Method, Method.id == Submission.method_id)
    .join(
        Evaluation,
        and_(Evaluation.submission_id == Submission.id, Evaluation.scoring_id == bindparam("scoring_id")),
    )
    .join(CompetitionResult, CompetitionResult.evaluation_id == Evaluation.id)
    .join(Measure, and_(Measure.result_id == CompetitionResult.id, Measure.position == 0))
    .where(*_CONDITIONS, CompetitionResult.competition == bindparam("competition"))
    .order_by(Submission.created_at, Submission.id)
)
_MEASURES = _PUBLISHED.with_only_columns(Measure.id, maintain_column_froms=True).order_by(None)
_VALUES = select(ClassScore.measure_id, ClassScore.class_name, ClassScore.value).where(
    ClassScore.measure_id.in_(_MEASURES)
)


def state(session: Session, challenge: Challenge, competition: str) -> Sequence[Hashable]:
    """Return what tells a board apart: as long as this and the challenge's row are the same, so is the board."""
    return session.execute(_STATE, _of(challenge, competition)).all()


def published(session: Session, challenge: Challenge, competition: str) -> Sequence[Any]:
    """Return everything of the published submissions but the scores of classes, in the order of submission."""
    return session.execute(_PUBLISHED, _of(challenge, competition)).all()


def values(session: Session, challenge: Challenge, competition: str) -> Mapping[uuid.UUID, Mapping[str, float | None]]:
    """Return the unrounded scores of each published primary measure, by class."""
    found: defaultdict[uuid.UUID, dict[str, float | None]] = defaultdict(dict)
    for measure_id, name, value in session.execute(_VALUES, _of(challenge, competition)):
        found[measure_id][name] = value
    return found


def other_means(
    session: Session, result_ids: Collection[uuid.UUID], metrics: Collection[Metric]
) -> Mapping[uuid.UUID, Mapping[Metric, float | None]]:
    """Return the unrounded means of some secondary measures, by result."""
    means: defaultdict[uuid.UUID, dict[Metric, float | None]] = defaultdict(dict)
    query = select(Measure.result_id, Measure.metric, Measure.mean).where(
        Measure.result_id.in_(result_ids), Measure.metric.in_([metric.value for metric in metrics])
    )
    for result_id, metric, mean in session.execute(query) if metrics else ():
        means[result_id][Metric(metric)] = mean
    return means


def _of(challenge: Challenge, competition: str) -> dict[str, Any]:
    return {
        "challenge_id": challenge.id,
        "scoring_id": challenge.current_scoring_id,
        "competition": competition,
    }
