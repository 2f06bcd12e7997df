"""Evaluations that count now: each submission has at most one."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeVarTuple

from sqlalchemy import Select, and_, func, or_, select
from sqlalchemy.orm import Session, aliased, selectinload

from vocboard.app.challenges.models import Challenge, GroundTruthVersion, Scoring, TruthState
from vocboard.app.database import Base
from vocboard.app.evaluations import curves, diagnosis_tasks
from vocboard.app.evaluations.models import (
    CompetitionResult,
    ConfusionShares,
    Curve,
    DiagnosisShares,
    Evaluation,
    Measure,
    PublicConfusionMatrix,
    PublicCurve,
    PublicDiagnosis,
)
from vocboard.app.evaluations.origin import import_of
from vocboard.app.evaluations.visibility import StoredCurves, StoredDetail
from vocboard.app.submissions.models import State, Submission, SubmissionEntry, SubmissionPerson
from vocboard.evaluator.names import CurveKind
from vocboard.evaluator.scores import AnyCurve

Columns = TypeVarTuple("Columns")


def current(session: Session, submission: Submission) -> Evaluation | None:
    """Return the submission's current evaluation with its results, metrics and class scores.

    None while it has not been evaluated.

    Args:
        submission: not changed in the database since it was loaded.
    """
    if submission.current_evaluation_id is None:
        return None
    results = selectinload(Evaluation.results)
    query = (
        _current(select(Evaluation))
        .where(Evaluation.submission_id == submission.id)
        .options(results.selectinload(CompetitionResult.measures).selectinload(Measure.class_scores))
    )
    return session.scalars(query).one_or_none()


def detail(session: Session, challenge: Challenge, evaluation: Evaluation, curves_of: str | None) -> StoredDetail:
    """Return the curves (of one competition), confusion matrices and diagnoses that the web process can read."""
    with_curves = {result.id: result.details for result in evaluation.results if result.competition == curves_of}
    stored = _curves(session, with_curves)
    rows = session.execute(
        select(
            CompetitionResult.id,
            ConfusionShares.shares.label("shares"),
            ConfusionShares.steps,
            PublicConfusionMatrix.counts,
            DiagnosisShares.shares.label("diagnosis_shares"),
            PublicDiagnosis.content.label("diagnosis"),
        )
        .outerjoin(ConfusionShares, ConfusionShares.result_id == CompetitionResult.id)
        .outerjoin(PublicConfusionMatrix, PublicConfusionMatrix.result_id == CompetitionResult.id)
        .outerjoin(DiagnosisShares, DiagnosisShares.result_id == CompetitionResult.id)
        .outerjoin(PublicDiagnosis, PublicDiagnosis.result_id == CompetitionResult.id)
        .where(CompetitionResult.evaluation_id == evaluation.id)
    ).all()
    versions = session.execute(
        select(GroundTruthVersion.number, GroundTruthVersion.state, Scoring.edition_version)
        .join(Scoring, Scoring.ground_truth_version_id == GroundTruthVersion.id)
        .where(Scoring.id == evaluation.scoring_id)
    ).one()
    is_to_be_diagnosed, diagnosis_failure = diagnosis_tasks.outcome(session, evaluation.id)
    return StoredDetail(
        eleven_points=stored.eleven_points,
        exact_curves=stored.exact_curves,
        positives=stored.positives,
        shares={row.id: row.shares for row in rows if row.shares is not None},
        steps={row.id: row.steps for row in rows},
        exact_matrices={row.id: row.counts for row in rows if row.counts is not None},
        diagnosis_shares={row.id: row.diagnosis_shares for row in rows if row.diagnosis_shares is not None},
        exact_diagnoses={row.id: row.diagnosis for row in rows if row.diagnosis is not None},
        is_to_be_diagnosed=is_to_be_diagnosed,
        diagnosis_failure=diagnosis_failure,
        ground_truth_version=versions.number,
        edition_version=versions.edition_version,
        imported=import_of(session, challenge) if versions.state is TruthState.ELSEWHERE else None,
    )


def published_curves(
    session: Session, submission_ids: Collection[uuid.UUID], competition: str, class_name: str
) -> tuple[Mapping[uuid.UUID, uuid.UUID], StoredCurves]:
    """Return the curves of one class of published submissions that the web process can read.

    Returns:
        The submission of each result, and the curves by result.
    """
    query = _current(
        select(CompetitionResult.id, Evaluation.submission_id, CompetitionResult.details).join(
            Evaluation, Evaluation.id == CompetitionResult.evaluation_id
        )
    ).where(
        Submission.entries.any(
            and_(SubmissionEntry.competition == CompetitionResult.competition, SubmissionEntry.is_private.is_(False))
        ),
        Submission.id.in_(submission_ids),
        Submission.state == State.SCORED,
        Submission.published_at.is_not(None),
        CompetitionResult.competition == competition,
    )
    rows = session.execute(query).all()
    curves = _curves(session, {row.id: row.details for row in rows}, class_name)
    return {row.id: row.submission_id for row in rows}, curves


def connected_people(session: Session, phase_id: uuid.UUID, user_ids: Collection[uuid.UUID]) -> Collection[uuid.UUID]:
    """Return these people, those whom any submission to the phase counts for together with one of them, and so on."""
    of_one, of_other = aliased(SubmissionPerson), aliased(SubmissionPerson)
    query = (
        select(of_other.user_id)
        .join(of_one, of_one.submission_id == of_other.submission_id)
        .join(Submission, Submission.id == of_one.submission_id)
        .where(Submission.phase_id == phase_id)
        .distinct()
    )
    known, latest = set(user_ids), set(user_ids)
    while latest:
        latest = set(session.scalars(query.where(of_one.user_id.in_(latest)))) - known
        known |= latest
    return known


def people_of_submissions(
    session: Session, phase_id: uuid.UUID, *, user_ids: Collection[uuid.UUID] | None = None
) -> Mapping[uuid.UUID, Sequence[uuid.UUID]]:
    """Return whom each submission to a phase counts for, by the submission's id.

    Args:
        user_ids: only submissions of these people.
    """
    query = (
        select(SubmissionPerson.submission_id, SubmissionPerson.user_id)
        .join(Submission, Submission.id == SubmissionPerson.submission_id)
        .where(Submission.phase_id == phase_id)
    )
    if user_ids is not None:
        query = query.where(SubmissionPerson.user_id.in_(user_ids))
    found: defaultdict[uuid.UUID, list[uuid.UUID]] = defaultdict(list)
    for submission_id, user_id in session.execute(query):
        found[submission_id].append(user_id)
    return found


class Scored(NamedTuple):
    """The mean of the primary metric of a submission in a competition; None if undefined."""

    submission_id: uuid.UUID
    competition: str
    metric: str
    mean: float | None
    not_entered: Sequence[str]


def in_order_of_evaluation(
    session: Session,
    phase_id: uuid.UUID,
    *,
    user_ids: Collection[uuid.UUID] | None = None,
    competition: str | None = None,
) -> Sequence[Scored]:
    """Return what has been scored in a phase, published or not, and whatever has become of it since.

    By the first evaluation of each submission: re-scores do not change the order. Submissions that a re-score left out,
    because they had been withdrawn or disqualified, have the last score that counted. Rehearsals are left out.

    Args:
        user_ids: only submissions of these people.
        competition: only this one.
    """
    first = select(func.min(Evaluation.created_at)).where(Evaluation.submission_id == Submission.id)
    rescores = Base.metadata.tables["rescores"].c
    applied = func.coalesce(Scoring.begun_with_id, Scoring.id).in_(
        select(rescores.scoring_id).where(rescores.state == "applied")
    )
    last = (
        select(Evaluation.id)
        .join(Scoring, Scoring.id == Evaluation.scoring_id)
        .where(Evaluation.submission_id == Submission.id)
        .where(or_(applied, Evaluation.created_at == first.correlate(Submission).scalar_subquery()))
        .order_by(Evaluation.created_at.desc())
        .limit(1)
        .correlate(Submission)
        .scalar_subquery()
    )
    counted = func.coalesce(Submission.current_evaluation_id, last)
    query = (
        select(
            Submission.id,
            CompetitionResult.competition,
            Measure.metric,
            Measure.mean,
            CompetitionResult.not_entered,
        )
        .select_from(Submission)
        .join(CompetitionResult, CompetitionResult.evaluation_id == counted)
        .join(Measure, and_(Measure.result_id == CompetitionResult.id, Measure.position == 0))
        .where(
            Submission.phase_id == phase_id,
            Submission.is_rehearsal.is_(False),
        )
        .order_by(first.correlate(Submission).scalar_subquery(), Submission.created_at, Submission.id)
    )
    if user_ids is not None:
        query = query.where(Submission.user_id.in_(user_ids))
    if competition is not None:
        query = query.where(CompetitionResult.competition == competition)
    return [Scored(*row) for row in session.execute(query)]


def current_means(
    session: Session, submission_ids: Collection[uuid.UUID]
) -> Mapping[uuid.UUID, Mapping[str, float | None]]:
    """Return the unrounded mean of the primary metric by submission and competition; None if undefined."""
    query = _current(
        select(Evaluation.submission_id, CompetitionResult.competition, Measure.mean)
        .join(CompetitionResult, CompetitionResult.id == Measure.result_id)
        .join(Evaluation, Evaluation.id == CompetitionResult.evaluation_id)
    ).where(Evaluation.submission_id.in_(submission_ids), Measure.position == 0)
    means: defaultdict[uuid.UUID, dict[str, float | None]] = defaultdict(dict)
    for submission_id, competition, mean in session.execute(query.order_by(CompetitionResult.position)):
        means[submission_id][competition] = mean
    return means


def incomplete_results(session: Session, submission_ids: Collection[uuid.UUID]) -> set[tuple[uuid.UUID, str]]:
    """Return the submissions and competitions in which not all classes were entered."""
    query = _current(
        select(Evaluation.submission_id, CompetitionResult.competition, CompetitionResult.not_entered).join(
            Evaluation, Evaluation.id == CompetitionResult.evaluation_id
        )
    ).where(Evaluation.submission_id.in_(submission_ids))
    return {(submission_id, competition) for submission_id, competition, names in session.execute(query) if names}


def _current(query: Select[*Columns]) -> Select[*Columns]:
    """Keep of a query over evaluations those that count now."""
    # The submission's own key, too: databases have an index for it, and none for evaluations that count.
    is_current = and_(Submission.id == Evaluation.submission_id, Submission.current_evaluation_id == Evaluation.id)
    return query.join(Submission, is_current)


def _curves(
    session: Session, details: Mapping[uuid.UUID, Mapping[str, Any]], class_name: str | None = None
) -> StoredCurves:
    """Return eleven points and public copies of exact curves, of all classes or one.

    Args:
        details: of the results, by id.
    """
    result_ids = list(details)
    if not result_ids:
        return StoredCurves({}, {}, {})
    points = select(Curve).where(Curve.result_id.in_(result_ids)).order_by(Curve.position)
    copies = select(PublicCurve).where(PublicCurve.result_id.in_(result_ids)).order_by(PublicCurve.position)
    if class_name is not None:
        points, copies = (
            points.where(Curve.class_name == class_name),
            copies.where(PublicCurve.class_name == class_name),
        )
    eleven: defaultdict[uuid.UUID, dict[str, tuple[CurveKind, list[float]]]] = defaultdict(dict)
    for point in session.scalars(points):
        eleven[point.result_id][point.class_name] = CurveKind(point.kind), point.values
    exact: defaultdict[uuid.UUID, dict[str, AnyCurve]] = defaultdict(dict)
    for copy in session.scalars(copies):
        exact[copy.result_id][copy.class_name] = curves.unpack(copy.points, CurveKind(copy.kind))
    positives = {
        result_id: {name: counts["positives"] for name, counts in by_class.items()}
        for result_id, by_class in details.items()
    }
    return StoredCurves(eleven, exact, positives)
