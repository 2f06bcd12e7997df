"""Evaluations that count now: those of each challenge's current scoring."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import TypeVarTuple

from sqlalchemy import Select, and_, select
from sqlalchemy.orm import Session, selectinload, undefer

from app.challenges.models import Challenge
from app.evaluations import curves
from app.evaluations.models import CompetitionResult, Curve, Evaluation, Measure
from app.submissions.models import Submission
from evaluator.scores import AnyCurve, CurveKind

Columns = TypeVarTuple("Columns")


def current(session: Session, submission: Submission) -> Evaluation | None:
    """Return the submission's evaluation with its results, confusion matrices, measures and class scores.

    None while the current scoring has not evaluated it.
    """
    results = selectinload(Evaluation.results)
    query = (
        _current(select(Evaluation))
        .where(Evaluation.submission_id == submission.id)
        .options(
            results.selectinload(CompetitionResult.measures).selectinload(Measure.class_scores),
            results.undefer(CompetitionResult.confusion_matrix),
        )
    )
    return session.scalars(query).one_or_none()


def current_curves(session: Session, submission: Submission, competition: str) -> Mapping[str, AnyCurve]:
    """Return the current curves of one competition, their corners, by class in the edition's order."""
    query = (
        _current(
            select(Curve)
            .join(CompetitionResult, CompetitionResult.id == Curve.result_id)
            .join(Evaluation, Evaluation.id == CompetitionResult.evaluation_id)
        )
        .where(Evaluation.submission_id == submission.id, CompetitionResult.competition == competition)
        .order_by(Curve.position)
        .options(undefer(Curve.points))
    )
    return {curve.class_name: curves.unpack(curve.points, CurveKind(curve.kind)) for curve in session.scalars(query)}


def current_means(
    session: Session, submission_ids: Collection[uuid.UUID]
) -> Mapping[uuid.UUID, Mapping[str, float | None]]:
    """Return the mean of the primary measure by submission and competition, unrounded; None where undefined."""
    query = _current(
        select(Evaluation.submission_id, CompetitionResult.competition, Measure.mean)
        .join(CompetitionResult, CompetitionResult.id == Measure.result_id)
        .join(Evaluation, Evaluation.id == CompetitionResult.evaluation_id)
    ).where(Evaluation.submission_id.in_(submission_ids), Measure.position == 0)
    means: defaultdict[uuid.UUID, dict[str, float | None]] = defaultdict(dict)
    for submission_id, competition, mean in session.execute(query.order_by(CompetitionResult.position)):
        means[submission_id][competition] = mean
    return means


def _current(query: Select[*Columns]) -> Select[*Columns]:
    """Keep of a query over evaluations those of their challenge's current scoring."""
    return query.join(Submission, Submission.id == Evaluation.submission_id).join(
        Challenge,
        and_(Challenge.id == Submission.challenge_id, Challenge.current_scoring_id == Evaluation.scoring_id),
    )
