"""The leaderboards' database queries. Statements are built once, because building one takes longer than running it."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges import queries as challenges
from vocboard.app.challenges.models import Challenge
from vocboard.app.evaluations.models import ClassScore, CompetitionResult, Evaluation, Measure
from vocboard.app.leaderboards.models import LeaderboardRevision
from vocboard.app.submissions.models import Method, State, Submission
from vocboard.evaluator.editions import Metric

_IS_PUBLISHED = (Submission.state == State.SCORED, Submission.published_at.is_not(None))


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
        Submission.published_at,
        Submission.publish_when_scored,
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
    .join(Evaluation, Evaluation.id == Submission.current_evaluation_id)
    .join(CompetitionResult, CompetitionResult.evaluation_id == Evaluation.id)
    .join(Measure, and_(Measure.result_id == CompetitionResult.id, Measure.position == 0))
    .where(
        Submission.challenge_id == bindparam("challenge_id"),
        Submission.phase_key == bindparam("phase_key"),
        *_IS_PUBLISHED,
        CompetitionResult.competition == bindparam("competition"),
    )
    .order_by(Submission.created_at, Submission.id)
)
_MEASURES = _PUBLISHED.with_only_columns(Measure.id, maintain_column_froms=True).order_by(None)
_VALUES = select(ClassScore.measure_id, ClassScore.class_name, ClassScore.value).where(
    ClassScore.measure_id.in_(_MEASURES)
)


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


def published(session: Session, challenge: Challenge, phase_key: str, competition: str) -> Sequence[Any]:
    """Return everything of a phase's published submissions but the scores of classes, in the order of submission."""
    return session.execute(_PUBLISHED, _of(challenge, phase_key, competition)).all()


def values(
    session: Session, challenge: Challenge, phase_key: str, competition: str
) -> Mapping[uuid.UUID, Mapping[str, float | None]]:
    """Return the unrounded scores of each published primary measure, by class."""
    found: defaultdict[uuid.UUID, dict[str, float | None]] = defaultdict(dict)
    for measure_id, name, value in session.execute(_VALUES, _of(challenge, phase_key, competition)):
        found[measure_id][name] = value
    return found


def other_means(
    session: Session, result_ids: Collection[uuid.UUID], metrics: Collection[Metric]
) -> Mapping[uuid.UUID, Mapping[Metric, float | None]]:
    """Return the unrounded means of secondary metrics, by result."""
    means: defaultdict[uuid.UUID, dict[Metric, float | None]] = defaultdict(dict)
    query = select(Measure.result_id, Measure.metric, Measure.mean).where(
        Measure.result_id.in_(result_ids), Measure.metric.in_([metric.value for metric in metrics])
    )
    for result_id, metric, mean in session.execute(query) if metrics else ():
        means[result_id][Metric(metric)] = mean
    return means


def _of(challenge: Challenge, phase_key: str, competition: str) -> dict[str, Any]:
    return {"challenge_id": challenge.id, "phase_key": phase_key, "competition": competition}
