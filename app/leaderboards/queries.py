"""What leaderboards ask of the database. The statements are made once: to make one takes longer than to run it."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import reduce
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, Text, and_, bindparam, cast, func, literal_column, select
from sqlalchemy.orm import QueryableAttribute, Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges import queries as challenges
from vocboard.app.challenges.models import Challenge, ChallengeCompetition
from vocboard.app.evaluations.models import ClassScore, CompetitionResult, Evaluation, Measure
from vocboard.app.submissions.models import Method, State, Submission
from vocboard.evaluator.editions import Metric

_IS_PUBLISHED = (Submission.state == State.SCORED, Submission.published_at.is_not(None))


def _text(*columns: ColumnElement[Any] | QueryableAttribute[Any]) -> ColumnElement[str]:
    """Columns as one text, which differs if any of them does: what stands between them stands in none."""
    escaped = (func.replace(cast(column, Text), literal_column("'^'"), literal_column("'^^'")) for column in columns)
    told = (func.coalesce(text, literal_column("'^-'")) for text in escaped)
    return reduce(lambda before, text: before + literal_column("'^,'", Text) + text, told)


def _all_of(texts: ColumnElement[str], *conditions: ColumnElement[bool]) -> ScalarSelect[str]:
    """The texts of the challenge's rows as one, in whatever order: should it change, a board is made again in vain."""
    rows = func.aggregate_strings(texts, "^;")
    return select(rows).where(*conditions).correlate(Challenge).scalar_subquery()


# A look fetches a single row: one for each method would take ten times as long. All that a board shows of submissions
# and that may change is in it; the rest is the result's, which is never changed, only replaced by another. Subqueries,
# so that PostgreSQL looks up what belongs to the few that are published and reads no table.
_RESULT = (
    select(CompetitionResult.id)
    .join(Evaluation, Evaluation.id == CompetitionResult.evaluation_id)
    .where(
        Evaluation.submission_id == Submission.id,
        Evaluation.scoring_id == Challenge.current_scoring_id,
        CompetitionResult.competition == bindparam("competition"),
    )
    .correlate(Challenge, Submission)
    .scalar_subquery()
)
_NAME = select(Method.name).where(Method.id == Submission.method_id).correlate(Submission).scalar_subquery()
_LOOK = select(
    *Challenge.__table__.columns,
    _all_of(
        _text(ChallengeCompetition.key, ChallengeCompetition.position),
        ChallengeCompetition.challenge_id == Challenge.id,
    ),
    _all_of(
        _text(
            _RESULT,
            _NAME,
            Submission.id,
            Submission.contributors,
            Submission.affiliation,
            Submission.training_data,
            Submission.training_annotation,
            Submission.flickr_images,
            Submission.flickr_count,
        ),
        Submission.challenge_id == Challenge.id,
        *_IS_PUBLISHED,
    ),
)
_OF_VISITORS = _LOOK.where(*challenges.is_visible(bindparam("slug"), None))
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
    .where(
        Submission.challenge_id == bindparam("challenge_id"),
        *_IS_PUBLISHED,
        CompetitionResult.competition == bindparam("competition"),
    )
    .order_by(Submission.created_at, Submission.id)
)
_MEASURES = _PUBLISHED.with_only_columns(Measure.id, maintain_column_froms=True).order_by(None)
_VALUES = select(ClassScore.measure_id, ClassScore.class_name, ClassScore.value).where(
    ClassScore.measure_id.in_(_MEASURES)
)


def look(session: Session, slug: str, competition: str, viewer: User | None) -> Hashable | None:
    """Return all that a board is made of and that may change: as long as this is the same, so is the board.

    None if there is no such challenge, as far as the person may know.
    """
    query = _OF_VISITORS if viewer is None else _LOOK.where(*challenges.is_visible(bindparam("slug"), viewer))
    row = session.execute(query, {"slug": slug, "competition": competition}).one_or_none()
    return None if row is None else tuple(row)


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
