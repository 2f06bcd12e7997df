"""Converts evaluations to the API's schemas, limited to what the viewer may see."""

from vocboard.app.api.schemas.submissions import (
    ClassCounts,
    CompetitionScores,
    Curves,
    Diagnosis,
    Evaluation,
    Ladder,
    PrecisionRecallPoints,
    RocPoints,
    SecondaryMeasure,
)
from vocboard.app.api.schemas.values import ImportedScores
from vocboard.app.evaluations.diagnosis_failures import EXPLANATIONS
from vocboard.app.evaluations.visible import (
    DiagnosisState,
    VisibleCurve,
    VisibleDiagnosis,
    VisibleEvaluation,
    VisibleResult,
)
from vocboard.evaluator.editions import Metric
from vocboard.evaluator.metrics.shared_metrics import CurveKind


def evaluation_of(evaluation: VisibleEvaluation) -> Evaluation:
    """How the scores were computed."""
    return Evaluation(
        created_at=evaluation.created_at,
        evaluator_version=evaluation.evaluator_version,
        ground_truth_version=evaluation.ground_truth_version,
        edition_version=evaluation.edition_version,
        ground_truth_sha256=evaluation.ground_truth_sha256,
        archive_sha256=evaluation.archive_sha256,
    )


def scores_of(evaluation: VisibleEvaluation, decimals: int) -> dict[str, CompetitionScores]:
    """Return the scores by competition.

    Args:
        decimals: of the challenge.
    """
    return {result.competition: _competition(result, evaluation, decimals) for result in evaluation.results}


def curves_of(competition: str, evaluation: VisibleEvaluation | None) -> Curves:
    """Return the curves of a competition by class."""
    results = evaluation.results if evaluation else ()
    curves = next((result.curves for result in results if result.competition == competition), {})
    return Curves(
        competition=competition,
        kind=next((curve.kind for curve in curves.values()), None),
        curves={name: _points(curve) for name, curve in curves.items()},
        imported=_imported(evaluation) if evaluation else None,
    )


def diagnosis_of(competition: str, diagnosis: VisibleDiagnosis | None) -> Diagnosis:
    """Return the diagnosis of a competition; None for one that the viewer may not see."""
    shares = (diagnosis.shares if diagnosis else None) or {}
    exact = diagnosis.exact if diagnosis else None
    state = diagnosis.state if diagnosis else None
    failure = diagnosis.failure if diagnosis and state is DiagnosisState.FAILED else None
    return Diagnosis(
        competition=competition,
        is_known=state is DiagnosisState.KNOWN,
        state=state,
        failure=failure,
        explanation=None if failure is None else EXPLANATIONS[failure],
        shares={of: None if kinds is None else dict(kinds) for of, kinds in shares.items()},
        exact=dict(exact) if exact else None,
    )


def _imported(evaluation: VisibleEvaluation) -> ImportedScores | None:
    return None if evaluation.imported is None else ImportedScores.model_validate(evaluation.imported)


def _points(curve: VisibleCurve) -> PrecisionRecallPoints | RocPoints:
    right: list[float | None] = [x for x, _ in curve.points]
    up: list[float | None] = [y for _, y in curve.points]
    if curve.kind is CurveKind.ROC:
        return RocPoints(
            false_positive_rate=right, true_positive_rate=up, step=curve.step, is_left_out=curve.is_left_out
        )
    return PrecisionRecallPoints(recall=right, precision=up, step=curve.step, is_left_out=curve.is_left_out)


def _competition(result: VisibleResult, evaluation: VisibleEvaluation, decimals: int) -> CompetitionScores:
    primary, *secondary = result.measures
    return CompetitionScores(
        task=result.task,
        metric=Metric(primary.metric),
        per_class=dict(primary.per_class),
        mean=primary.mean,
        mean_over=primary.mean_over,
        decimals=decimals,
        secondary={
            Metric(measure.metric): SecondaryMeasure(per_class=dict(measure.per_class), mean=measure.mean)
            for measure in secondary
        },
        not_entered=list(result.not_entered),
        details={
            name: ClassCounts(
                positives=counts.positives,
                results=counts.results,
                final_recall=counts.final_recall,
                final_precision=counts.final_precision,
            )
            for name, counts in result.counts.items()
        },
        confusion_matrix=[list(row) for row in result.confusion.shares] if result.confusion else None,
        confusion_steps=list(result.confusion.steps) if result.confusion and result.confusion.steps else None,
        confusion_counts=[list(row) for row in result.confusion.counts]
        if result.confusion and result.confusion.counts
        else None,
        imported=_imported(evaluation),
        ladder=Ladder(step=result.ladder.step, is_new_best=result.ladder.is_new_best, best=result.ladder.best)
        if result.ladder
        else None,
    )
