"""Scores, curves and diagnosis of one competition of a submission as files: JSON, CSV and SVG."""

import uuid
from enum import StrEnum
from typing import Annotated, TypeVar

from fastapi import Query, Response

from vocboard.app.accounts.models import User
from vocboard.app.api.documentation import file_responses
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas import submissions as schemas
from vocboard.app.api.schemas.values import ImportedScores
from vocboard.app.api.submission_views import scores_of
from vocboard.app.database import Database
from vocboard.app.errors import NotFoundError
from vocboard.app.evaluations import diagnosis_export, export
from vocboard.app.evaluations.diagnosis_failures import EXPLANATIONS
from vocboard.app.evaluations.results import visible_evaluation
from vocboard.app.evaluations.visible import (
    DiagnosisState,
    VisibleCurve,
    VisibleDiagnosis,
    VisibleEvaluation,
    VisibleResult,
)
from vocboard.app.leaderboards.service import columns
from vocboard.app.submissions import queries
from vocboard.app.submissions.models import Submission
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import Viewer
from vocboard.evaluator.names import CurveKind

router = ApiRoutes(tags=["submissions"])


class Format(StrEnum):
    """Formats; each is also a file extension."""

    JSON = "json"
    CSV = "csv"
    SVG = "svg"


class DataFormat(StrEnum):
    """Formats without a drawing; each is also a file extension."""

    JSON = "json"
    CSV = "csv"


AnyFormat = TypeVar("AnyFormat", Format, DataFormat)
_MEDIA_TYPES = {Format.JSON: "application/json", Format.CSV: "text/csv", Format.SVG: "image/svg+xml"}
_AS_TEXT = file_responses(_MEDIA_TYPES[Format.CSV], _MEDIA_TYPES[Format.SVG])
_FORMAT = Query(
    alias="format", description="Format of the response. A file extension of the competition does the same."
)
Wanted = Annotated[Format, _FORMAT]
WantedData = Annotated[DataFormat, _FORMAT]


@router.get(
    "/submissions/{submission_id}/scores/{competition}",
    response_model=schemas.CompetitionScores,
    responses=problem_responses(401, 403, 404) | _AS_TEXT,
)
def get_scores(
    database: DatabaseDep, viewer: Viewer, submission_id: uuid.UUID, competition: str, wanted: Wanted = Format.JSON
) -> Response:
    """Return the scores of one competition as JSON, CSV or a drawing in SVG, at the challenge's detail level."""
    competition, wanted = _split(competition, wanted)
    submission, evaluation, result = _found(database, viewer, submission_id, competition, with_curves=False)
    if result is None or evaluation is None:
        raise NotFoundError("The submission has no scores for this competition yet.")
    known = queries.edition_of_submission(submission).competitions[competition]
    decimals = submission.challenge.decimals
    match wanted:
        case Format.JSON:
            content = scores_of(evaluation, decimals)[competition].model_dump_json()
        case Format.CSV:
            content = export.scores_csv(result, columns(known), decimals, evaluation.imported)
        case Format.SVG:
            title = _title(submission, competition)
            content = export.scores_svg(result, columns(known), decimals, title, evaluation.imported)
    return _file(content, wanted, f"{submission.challenge.slug}-{competition}-scores")


@router.get(
    "/submissions/{submission_id}/curves/{competition}",
    response_model=schemas.CompetitionCurves,
    responses=problem_responses(401, 403, 404) | _AS_TEXT,
)
def get_curves(
    database: DatabaseDep, viewer: Viewer, submission_id: uuid.UUID, competition: str, wanted: Wanted = Format.JSON
) -> Response:
    """Return the curves of one competition by class: precision and recall, or ROC for competitions scored by it.

    As JSON, CSV or a drawing in SVG. At the detail level `curves`, a curve has eleven points with two decimals; at
    `everything`, it is exact. Lower levels have no curves.
    """
    competition, wanted = _split(competition, wanted)
    submission, evaluation, result = _found(database, viewer, submission_id, competition, with_curves=True)
    curves = result.curves if result else {}
    imported = evaluation.imported if evaluation else None
    match wanted:
        case Format.JSON:
            content = curves_of(competition, evaluation).model_dump_json()
        case Format.CSV:
            content = export.curves_csv(curves, imported)
        case Format.SVG:
            content = export.curves_svg(curves, _title(submission, competition), imported)
    return _file(content, wanted, f"{submission.challenge.slug}-{competition}-curves")


@router.get(
    "/submissions/{submission_id}/diagnosis/{competition}",
    response_model=schemas.Diagnosis,
    responses=problem_responses(401, 403, 404) | file_responses(_MEDIA_TYPES[Format.CSV]),
)
def get_diagnosis(
    database: DatabaseDep,
    viewer: Viewer,
    submission_id: uuid.UUID,
    competition: str,
    wanted: WantedData = DataFormat.JSON,
) -> Response:
    """Return the errors in the results of one competition, as JSON or CSV.

    At the detail level `curves`, the response has coarse shares; at `everything`, counts of the kinds of errors and
    what the score would gain without them. Lower levels have no diagnosis.
    """
    competition, wanted = _split(competition, wanted)
    submission, _, result = _found(database, viewer, submission_id, competition, with_curves=False)
    diagnosis = result.diagnosis if result else None
    match wanted:
        case DataFormat.JSON:
            content = _diagnosis(competition, diagnosis).model_dump_json()
        case DataFormat.CSV:
            content = diagnosis_export.diagnosis_csv(diagnosis)
    return _file(content, Format(wanted), f"{submission.challenge.slug}-{competition}-diagnosis")


def curves_of(competition: str, evaluation: VisibleEvaluation | None) -> schemas.CompetitionCurves:
    """Return the curves of a competition by class."""
    results = evaluation.results if evaluation else ()
    curves = next((result.curves for result in results if result.competition == competition), {})
    return schemas.CompetitionCurves(
        competition=competition,
        kind=next((curve.kind for curve in curves.values()), None),
        curves={name: _points(curve) for name, curve in curves.items()},
        imported=ImportedScores.model_validate(evaluation.imported) if evaluation and evaluation.imported else None,
    )


def _points(curve: VisibleCurve) -> schemas.PrecisionRecallPoints | schemas.RocPoints:
    right: list[float | None] = [x for x, _ in curve.points]
    up: list[float | None] = [y for _, y in curve.points]
    if curve.kind is CurveKind.ROC:
        return schemas.RocPoints(
            false_positive_rate=right, true_positive_rate=up, step=curve.step, is_left_out=curve.is_left_out
        )
    return schemas.PrecisionRecallPoints(recall=right, precision=up, step=curve.step, is_left_out=curve.is_left_out)


def _diagnosis(competition: str, diagnosis: VisibleDiagnosis | None) -> schemas.Diagnosis:
    """Return the diagnosis of a competition; None for one that the viewer may not see."""
    state = diagnosis.state if diagnosis else None
    shares = (diagnosis.shares if diagnosis else None) or {}
    failure = diagnosis.failure if diagnosis and state is DiagnosisState.FAILED else None
    return schemas.Diagnosis(
        competition=competition,
        is_known=state is DiagnosisState.KNOWN,
        state=state,
        failure=failure,
        explanation=None if failure is None else EXPLANATIONS[failure],
        shares={of: None if kinds is None else dict(kinds) for of, kinds in shares.items()},
        exact=dict(diagnosis.exact) if diagnosis and diagnosis.exact else None,
    )


def _split(competition: str, wanted: AnyFormat) -> tuple[str, AnyFormat]:
    """Return a competition without the extension, and the format that it names."""
    formats = type(wanted)
    name, dot, ending = competition.rpartition(".")
    return (name, formats(ending)) if dot and ending in set(formats) else (competition, wanted)


def _found(
    database: Database, viewer: User | None, submission_id: uuid.UUID, competition: str, *, with_curves: bool
) -> tuple[Submission, VisibleEvaluation | None, VisibleResult | None]:
    with database.reading() as session:
        submission = queries.get_for(session, submission_id, viewer)
        access = queries.access_of(session, submission, viewer)
        if competition not in queries.visible_competitions(submission, access):
            raise NotFoundError("The submission has no results for this competition.")
        evaluation = visible_evaluation(session, submission, access, curves_of=competition if with_curves else None)
    results = evaluation.results if evaluation else ()
    return submission, evaluation, next((one for one in results if one.competition == competition), None)


def _title(submission: Submission, competition: str) -> str:
    return f"{submission.method.name}, {submission.challenge.title}, {competition}"


def _file(content: str, wanted: Format, name: str) -> Response:
    headers = {} if wanted is Format.JSON else {"Content-Disposition": f'attachment; filename="{name}.{wanted}"'}
    return Response(content, media_type=_MEDIA_TYPES[wanted], headers=headers)
