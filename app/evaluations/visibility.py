"""Visibility of results. Pages, API responses and exports only show what `visible` returns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vocboard.app.challenges.models import Detail
from vocboard.app.evaluations.confusion_shares import steps_of
from vocboard.app.evaluations.curves import plot_points
from vocboard.app.evaluations.diagnosis_failures import DiagnosisFailure
from vocboard.app.evaluations.diagnosis_shares import Shares
from vocboard.app.evaluations.eleven_points import GRID, MAX_STEP, STEPS, shown_step
from vocboard.app.evaluations.ladder import Ladder, Release, VisibleLadder
from vocboard.app.evaluations.models import CompetitionResult, Evaluation, Measure
from vocboard.app.evaluations.origin import ImportedScores
from vocboard.app.evaluations.rounding import rounded, row_shares
from vocboard.app.evaluations.visible import (
    VisibleConfusion,
    VisibleCounts,
    VisibleCurve,
    VisibleDiagnosis,
    VisibleEvaluation,
    VisibleMeasure,
    VisibleResult,
)
from vocboard.evaluator.editions import Metric, Task
from vocboard.evaluator.names import CurveKind
from vocboard.evaluator.scores import AnyCurve
from vocboard.evaluator.tasks.definitions import METRICS

EXACT_DECIMALS = 12  # of points of exact curves


@dataclass(frozen=True, slots=True)
class ViewerPermissions:
    """What a viewer may see of a challenge's results.

    Attributes:
        means: of all metrics; otherwise, only what the Ladder mechanism releases of the primary one.
        classes: scores by class.
        curves: eleven points, and confusion matrices and diagnoses as shares.
        exact: exact curves, confusion matrices and diagnoses.
        counts: of positives and difficult objects, final recall and precision.
        ground_truth_hash: SHA-256 of the ground truth.
    """

    means: bool
    classes: bool
    curves: bool
    exact: bool
    counts: bool
    ground_truth_hash: bool


@dataclass(frozen=True, slots=True)
class StoredCurves:
    """Curves that the web process can read, by result id.

    Attributes:
        eleven_points: kind and values by class.
        exact_curves: by class; only for challenges with public ground truth.
        positives: number by class, from which the steps of the points follow.
    """

    eleven_points: Mapping[Any, Mapping[str, tuple[CurveKind, Sequence[float]]]]
    exact_curves: Mapping[Any, Mapping[str, AnyCurve]]
    positives: Mapping[Any, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class StoredDetail(StoredCurves):
    """Curves, confusion matrices and diagnoses of an evaluation that the web process can read, by result id.

    Attributes:
        shares: shares of confusion matrices.
        steps: of each row of these; None if an earlier version has stored them.
        exact_matrices: pixels; only for challenges with public ground truth.
        diagnosis_shares: shares of diagnoses.
        exact_diagnoses: only for challenges with public ground truth.
        is_to_be_diagnosed: whether the diagnoses are not known yet.
        diagnosis_failure: why they could not be computed.
        ground_truth_version: number of what it was evaluated against.
        edition_version: number of what it was evaluated by.
        imported: None if it was evaluated on this server.
    """

    shares: Mapping[Any, Sequence[Sequence[float | None]]]
    steps: Mapping[Any, Sequence[float | None] | None]
    exact_matrices: Mapping[Any, Sequence[Sequence[int]]]
    diagnosis_shares: Mapping[Any, Shares]
    exact_diagnoses: Mapping[Any, Mapping[str, Any]]
    is_to_be_diagnosed: bool
    diagnosis_failure: DiagnosisFailure | None
    ground_truth_version: int
    edition_version: int
    imported: ImportedScores | None = None


def viewer_permissions(detail: Detail, *, is_organiser: bool, has_ladder: bool) -> ViewerPermissions:
    """Return what a viewer may see at a detail level.

    Organisers see counts, and at least what the level `curves` shows.

    Args:
        has_ladder: whether the Ladder mechanism hides scores now (`Phase.ladder_step`).
    """
    if has_ladder and not is_organiser:
        return ViewerPermissions(
            means=False, classes=False, curves=False, exact=False, counts=False, ground_truth_hash=False
        )
    is_public = detail is Detail.EVERYTHING
    return ViewerPermissions(
        means=True,
        classes=is_organiser or detail is not Detail.MEAN,
        curves=is_organiser or detail in {Detail.CURVES, Detail.EVERYTHING},
        exact=is_public,
        counts=is_organiser or is_public,
        ground_truth_hash=is_organiser or is_public,
    )


def visible(
    evaluation: Evaluation,
    stored: StoredDetail,
    *,
    detail: Detail,
    decimals: int,
    is_organiser: bool,
    ladder: Ladder | None = None,
) -> VisibleEvaluation:
    """Return the part of an evaluation that organisers of its challenge, or others, may see.

    Args:
        evaluation: with results, measures and class scores.
        detail: level of the submission's phase.
        decimals: of the challenge.
        ladder: None if it does not hide scores now.
    """
    permissions = viewer_permissions(detail, is_organiser=is_organiser, has_ladder=ladder is not None)
    return VisibleEvaluation(
        created_at=evaluation.created_at,
        seconds=evaluation.seconds,
        evaluator_version=evaluation.evaluator_version,
        extensions=tuple(evaluation.extensions or ()),
        archive_sha256=evaluation.archive_sha256,
        ground_truth_version=stored.ground_truth_version,
        edition_version=stored.edition_version,
        ground_truth_sha256=evaluation.ground_truth_sha256 if permissions.ground_truth_hash else None,
        results=tuple(_result(result, stored, permissions, decimals, ladder) for result in evaluation.results),
        imported=stored.imported,
    )


def _result(
    result: CompetitionResult,
    stored: StoredDetail,
    permissions: ViewerPermissions,
    decimals: int,
    ladder: Ladder | None,
) -> VisibleResult:
    if ladder is not None and not permissions.means:
        return _released(result, ladder, decimals)
    return VisibleResult(
        competition=result.competition,
        task=Task(result.task),
        measures=tuple(
            _measure(measure, permissions, decimals)
            for measure in result.measures
            if permissions.exact or not METRICS[Metric(measure.metric)].needs_public_ground_truth
        ),
        not_entered=tuple(result.not_entered),
        counts={name: _counts(counts, decimals) for name, counts in result.details.items()}
        if permissions.counts
        else {},
        curves=_curves(result.id, stored, permissions),
        confusion=_confusion(result, stored, permissions, decimals),
        diagnosis=_diagnosis(result.id, stored, permissions),
    )


def _released(result: CompetitionResult, ladder: Ladder, decimals: int) -> VisibleResult:
    release = ladder.releases.get(result.competition, Release(None, None))
    primary = result.measures[0]
    return VisibleResult(
        competition=result.competition,
        task=Task(result.task),
        measures=(VisibleMeasure(primary.metric, {}, rounded(release.score, decimals), primary.mean_over),),
        not_entered=tuple(result.not_entered),
        counts={},
        curves={},
        confusion=None,
        ladder=VisibleLadder(
            step=ladder.step,
            is_new_best=release.score is not None,
            best=rounded(release.best, decimals) if ladder.is_owner else None,
        ),
    )


def _measure(measure: Measure, permissions: ViewerPermissions, decimals: int) -> VisibleMeasure:
    scores = {score.class_name: rounded(score.value, decimals) for score in measure.class_scores}
    return VisibleMeasure(
        metric=measure.metric,
        per_class=scores if permissions.classes else {},
        mean=rounded(measure.mean, decimals),
        mean_over=measure.mean_over,
    )


def _counts(counts: Mapping[str, Any], decimals: int) -> VisibleCounts:
    return VisibleCounts(
        positives=counts["positives"],
        results=counts["results"],
        difficult=counts["difficult"],
        final_recall=rounded(counts["final_recall"], decimals),
        final_precision=rounded(counts["final_precision"], decimals),
    )


def visible_curves(
    stored: StoredCurves, *, detail: Detail, has_ladder: bool
) -> Mapping[Any, Mapping[str, VisibleCurve]]:
    """Return the curves that participants may see, by result id and class.

    Args:
        detail: level of the submissions' phase.
        has_ladder: as for `viewer_permissions`.
    """
    permissions = viewer_permissions(detail, is_organiser=False, has_ladder=has_ladder)
    return {result_id: _curves(result_id, stored, permissions) for result_id in stored.eleven_points}


def _curves(result_id: Any, stored: StoredCurves, permissions: ViewerPermissions) -> Mapping[str, VisibleCurve]:
    if permissions.exact and (exact := stored.exact_curves.get(result_id)):
        return {
            name: VisibleCurve(curve.kind, tuple(plot_points(curve, EXACT_DECIMALS))) for name, curve in exact.items()
        }
    if not permissions.curves:
        return {}
    found, positives = stored.eleven_points.get(result_id, {}), stored.positives.get(result_id, {})
    return {name: _points(kind, values, positives.get(name, 0)) for name, (kind, values) in found.items()}


def _points(kind: CurveKind, values: Sequence[float], positives: int) -> VisibleCurve:
    is_roc = kind is CurveKind.ROC
    width = STEPS[0] if is_roc else shown_step(values, positives) if positives else None
    if not values or width is None:
        return VisibleCurve(kind, (), is_left_out=bool(positives) and not is_roc)
    return VisibleCurve(kind, tuple(zip(GRID, values, strict=True)), width)


def _confusion(
    result: CompetitionResult, stored: StoredDetail, permissions: ViewerPermissions, decimals: int
) -> VisibleConfusion | None:
    if permissions.exact and (counts := stored.exact_matrices.get(result.id)):
        return VisibleConfusion(row_shares(counts, decimals), counts)
    shares = stored.shares.get(result.id) if permissions.curves else None
    if shares is None:
        return None
    steps = stored.steps.get(result.id) or [
        None if width is None or width > MAX_STEP else width for width in steps_of(shares)
    ]
    rows = [[None if width is None else share for share in row] for row, width in zip(shares, steps, strict=True)]
    return VisibleConfusion(rows, None, steps)


def _diagnosis(result_id: Any, stored: StoredDetail, permissions: ViewerPermissions) -> VisibleDiagnosis | None:
    if not permissions.curves:
        return None
    exact = stored.exact_diagnoses.get(result_id) if permissions.exact else None
    shares = stored.diagnosis_shares.get(result_id)
    return VisibleDiagnosis(shares, exact, is_waiting=stored.is_to_be_diagnosed, failure=stored.diagnosis_failure)
