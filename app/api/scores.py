"""An evaluation as the API gives it: every score rounded to the challenge's decimals."""

from collections.abc import Mapping

from app.api.schemas.submissions import (
    ClassCounts,
    CompetitionScores,
    Curves,
    Evaluation,
    PrecisionRecallPoints,
    RocPoints,
    SecondaryMeasure,
)
from app.evaluations import models
from app.evaluations.curves import plot_points
from app.evaluations.rounding import row_shares, shown
from evaluator.editions import Metric, Task
from evaluator.scores import AnyCurve, CurveKind


def evaluation_of(row: models.Evaluation) -> Evaluation:
    """What the scores were computed with."""
    return Evaluation(
        created_at=row.created_at,
        evaluator_version=row.evaluator_version,
        ground_truth_sha256=row.ground_truth_sha256,
        archive_sha256=row.archive_sha256,
    )


def scores_of(row: models.Evaluation, decimals: int) -> dict[str, CompetitionScores]:
    """The scores of every competition, by key."""
    return {result.competition: _competition(result, decimals) for result in row.results}


def curves_of(competition: str, curves: Mapping[str, AnyCurve], decimals: int) -> Curves:
    """What plots of a competition's curves need, by class."""
    return Curves(
        competition=competition,
        kind=next((curve.kind for curve in curves.values()), None),
        curves={name: _points(curve, decimals) for name, curve in curves.items()},
    )


def _points(curve: AnyCurve, decimals: int) -> PrecisionRecallPoints | RocPoints:
    pairs = plot_points(curve, decimals)
    right: list[float | None] = [x for x, _ in pairs]
    up: list[float | None] = [y for _, y in pairs]
    if curve.kind is CurveKind.ROC:
        return RocPoints(false_positive_rate=right, true_positive_rate=up)
    return PrecisionRecallPoints(recall=right, precision=up)


def _competition(result: models.CompetitionResult, decimals: int) -> CompetitionScores:
    primary, *secondary = result.measures
    return CompetitionScores(
        task=Task(result.task),
        metric=Metric(primary.metric),
        per_class=_per_class(primary, decimals),
        mean=shown(primary.mean, decimals),
        mean_over=primary.mean_over,
        secondary={
            Metric(measure.metric): SecondaryMeasure(
                per_class=_per_class(measure, decimals), mean=shown(measure.mean, decimals)
            )
            for measure in secondary
        },
        not_entered=result.not_entered,
        details={
            name: ClassCounts(
                positives=counts["positives"],
                results=counts["results"],
                final_recall=shown(counts["final_recall"], decimals),
                final_precision=shown(counts["final_precision"], decimals),
            )
            for name, counts in result.details.items()
        },
        confusion_matrix=None if result.confusion_matrix is None else row_shares(result.confusion_matrix, decimals),
    )


def _per_class(measure: models.Measure, decimals: int) -> dict[str, float | None]:
    return {score.class_name: shown(score.value, decimals) for score in measure.class_scores}
