"""Evaluations go into the database once and are never changed."""

import math
import uuid
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

import numpy as np
from sqlalchemy import insert
from sqlalchemy.orm import Session

from app.evaluations import curves
from app.evaluations.models import ClassScore, CompetitionResult, Curve, Evaluation, Measure
from evaluator import VERSION
from evaluator.scores import ClassDetails, CompetitionScores
from evaluator.scores import Measure as ComputedMeasure


def store(
    session: Session,
    *,
    submission_id: uuid.UUID,
    scoring_id: uuid.UUID,
    scores: Mapping[str, CompetitionScores],
    ground_truth_sha256: str,
    archive_sha256: str,
    started_at: datetime,
    seconds: float,
) -> Evaluation:
    """Add what this process's evaluator says of a submission.

    Args:
        scores: by competition, in the edition's order.
        ground_truth_sha256: of the content of the ground truth that was used.
        archive_sha256: of the archive that was read.
        started_at: when the evaluation began.
        seconds: how long it took.
    """
    evaluation = Evaluation(
        submission_id=submission_id,
        scoring_id=scoring_id,
        evaluator_version=VERSION,
        ground_truth_sha256=ground_truth_sha256,
        archive_sha256=archive_sha256,
        started_at=started_at,
        seconds=seconds,
        results=[_result(position, item) for position, item in enumerate(scores.values())],
    )
    session.add(evaluation)
    session.flush()
    # What there are many of goes in as plain rows: as objects they take four times as long.
    for table, rows in (ClassScore, _class_scores), (Curve, _curves):
        if values := list(rows(evaluation, scores.values())):
            session.execute(insert(table), values)
    return evaluation


def _result(position: int, scores: CompetitionScores) -> CompetitionResult:
    matrix = scores.confusion_matrix
    return CompetitionResult(
        competition=scores.competition,
        position=position,
        task=scores.task.value,
        details={name: _details(details) for name, details in scores.details.items()},
        not_entered=list(scores.not_entered),
        confusion_matrix=None if matrix is None else np.asarray(matrix).tolist(),
        measures=[_measure(number, measure) for number, measure in enumerate((scores.primary, *scores.secondary))],
    )


def _measure(position: int, measure: ComputedMeasure) -> Measure:
    return Measure(
        metric=measure.metric.value,
        position=position,
        mean=_defined(measure.mean),
        mean_over=measure.mean_over,
    )


def _class_scores(evaluation: Evaluation, scores: Iterable[CompetitionScores]) -> Iterator[dict[str, object]]:
    for result, item in zip(evaluation.results, scores, strict=True):
        for row, measure in zip(result.measures, (item.primary, *item.secondary), strict=True):
            for position, (name, value) in enumerate(measure.per_class.items()):
                yield {
                    "measure_id": row.id,
                    "class_name": name,
                    "position": position,
                    "value": _defined(value),
                }


def _curves(evaluation: Evaluation, scores: Iterable[CompetitionScores]) -> Iterator[dict[str, object]]:
    for result, item in zip(evaluation.results, scores, strict=True):
        for position, (name, curve) in enumerate(item.curves.items()):
            yield {
                "result_id": result.id,
                "class_name": name,
                "position": position,
                "kind": curve.kind.value,
                "points": curves.pack(curve),
            }


def _details(details: ClassDetails) -> dict[str, float | int | None]:
    return {
        "positives": details.positives,
        "results": details.results,
        "difficult": details.difficult,
        "final_recall": _defined(details.final_recall),
        "final_precision": _defined(details.final_precision),
    }


def _defined(value: float) -> float | None:
    """The database has no NaN that both of its kinds agree on: undefined is NULL."""
    return None if math.isnan(value) else float(value)
