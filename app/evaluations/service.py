"""Stores evaluations."""

import math
import uuid
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import numpy as np
from sqlalchemy import Table, exists, insert, select, update
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import ChallengePhase, Scoring
from vocboard.app.database import Base, insert_into
from vocboard.app.evaluations import curves, diagnosis_tasks, eleven_points, exact_copies
from vocboard.app.evaluations.confusion_shares import confusion_shares, step
from vocboard.app.evaluations.diagnosis_shares import diagnosis_shares
from vocboard.app.evaluations.models import (
    ClassScore,
    CompetitionResult,
    ConfusionShares,
    Curve,
    DiagnosisShares,
    Evaluation,
    Measure,
    SecretConfusionMatrix,
    SecretCurve,
    SecretDiagnosis,
)
from vocboard.app.evaluations.subset_scores import in_steps
from vocboard.app.submissions.models import Submission
from vocboard.evaluator import VERSION, extensions
from vocboard.evaluator.scores import AnyCurve, ClassDetails, CompetitionScores, names_scored
from vocboard.evaluator.scores import Measure as ComputedMeasure

DIAGNOSIS_VERSION = 1  # of what is stored; another one if names or meanings change

_Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is stored of the diagnosis of one competition; see `evaluator.diagnosis.summary.Summary`."""

    exact: Mapping[str, Any]
    by_image: Mapping[str, Mapping[str, float]]


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
) -> None:
    """Store the evaluation of a submission.

    It becomes the submission's current evaluation if its scoring is a current one; the caller makes sure
    that the challenge does not switch to another one meanwhile. A submission has one evaluation in a scoring: one that
    organisers have marked as failed after it was scored, and queued again, gets that evaluation back.

    Args:
        scores: by competition, in the edition's order.
        ground_truth_sha256: content hash of the ground truth.
        archive_sha256: hash of the archive.
        started_at: when the evaluation began.
        seconds: duration.
    """
    evaluation_id = uuid.uuid4()
    adding = insert_into(session, Evaluation).values(
        id=evaluation_id,
        submission_id=submission_id,
        scoring_id=scoring_id,
        evaluator_version=VERSION,
        extensions=list(extensions.used_by(names_scored(scores.values()))),
        ground_truth_sha256=ground_truth_sha256,
        archive_sha256=archive_sha256,
        started_at=started_at,
        seconds=seconds,
    )
    if session.scalar(adding.on_conflict_do_nothing().returning(Evaluation.id)) is None:
        known = Evaluation.submission_id == submission_id, Evaluation.scoring_id == scoring_id
        evaluation_id = session.scalars(select(Evaluation.id).where(*known)).one()
        if _make_current(session, submission_id, scoring_id, evaluation_id) is not None:
            diagnosis_tasks.add(session, Evaluation.id == evaluation_id)
        return
    # Plain rows, one statement for each table: inserting objects takes twice as long.
    rows: defaultdict[type[Base], list[_Row]] = defaultdict(list)
    for position, item in enumerate(scores.values()):
        result = _result(evaluation_id, position, item)
        rows[CompetitionResult].append(result)
        for number, computed in enumerate(map(in_steps, (item.primary, *item.secondary))):
            measure = _measure(result["id"], number, computed)
            rows[Measure].append(measure)
            rows[ClassScore] += _class_scores(measure["id"], computed)
        by_class = {name: curves.corners(curve) for name, curve in item.curves.items()}
        rows[SecretCurve] += _exact_curves(result["id"], by_class)
        rows[Curve] += _eleven_points(result["id"], item, by_class)
        if item.confusion_matrix is not None and item.images_by_label is not None:
            counts = np.asarray(item.confusion_matrix).tolist()
            rows[SecretConfusionMatrix].append({"result_id": result["id"], "counts": counts})
            images = item.images_by_label.tolist()
            shares, steps = confusion_shares(counts, images), [step(number) for number in images]
            rows[ConfusionShares].append({"result_id": result["id"], "shares": shares, "steps": steps})
    for table, values in rows.items():
        if values:
            session.execute(insert(cast(Table, table.__table__)), values)  # without the ORM's analysis of each row
    exact_copies.add_missing(session, Evaluation.id == evaluation_id)
    owner = _make_current(session, submission_id, scoring_id, evaluation_id)
    if owner is not None:
        diagnosis_tasks.add_new(session, evaluation_id, owner)


def store_diagnoses(
    session: Session, evaluation_id: uuid.UUID, diagnoses: Mapping[str, Diagnosis], *, noise_key: bytes
) -> None:
    """Store the diagnoses of an evaluation that has none.

    Args:
        diagnoses: by competition; competitions may be missing.
        noise_key: which only workers have; see `diagnosis_shares`.
    """
    query = (
        select(CompetitionResult.id, CompetitionResult.competition, Evaluation, Scoring)
        .join(Evaluation, Evaluation.id == CompetitionResult.evaluation_id)
        .join(Scoring, Scoring.id == Evaluation.scoring_id)
        .where(Evaluation.id == evaluation_id)
    )
    for result_id, competition, evaluation, scoring in session.execute(query).all():
        if (diagnosis := diagnoses.get(competition)) is None:
            continue
        session.add(SecretDiagnosis(result_id=result_id, version=DIAGNOSIS_VERSION, content=dict(diagnosis.exact)))
        rules = f"{scoring.challenge_id} {scoring.edition_version}"
        release = f"{evaluation.ground_truth_sha256} {rules} {evaluation.archive_sha256} {competition}"
        shares = diagnosis_shares(diagnosis.by_image, key=noise_key, release=release)
        session.add(DiagnosisShares(result_id=result_id, shares=dict(shares)))
    session.flush()
    exact_copies.add_missing(session, Evaluation.id == evaluation_id)


def _make_current(
    session: Session, submission_id: uuid.UUID, scoring_id: uuid.UUID, evaluation_id: uuid.UUID
) -> uuid.UUID | None:
    """Return the person who has submitted it; None if the scoring is no longer a current one."""
    is_current = exists().where(ChallengePhase.current_scoring_id == scoring_id)
    return session.scalar(
        update(Submission)
        .where(Submission.id == submission_id, is_current)
        .values(current_evaluation_id=evaluation_id)
        .returning(Submission.user_id)
        .execution_options(synchronize_session=False)
    )


def _result(evaluation_id: uuid.UUID, position: int, scores: CompetitionScores) -> _Row:
    return {
        "id": uuid.uuid4(),
        "evaluation_id": evaluation_id,
        "competition": scores.competition,
        "position": position,
        "task": scores.task.value,
        "details": {name: _details(details) for name, details in scores.details.items()},
        "not_entered": list(scores.not_entered),
    }


def _measure(result_id: uuid.UUID, position: int, measure: ComputedMeasure) -> _Row:
    return {
        "id": uuid.uuid4(),
        "result_id": result_id,
        "metric": measure.metric.value,
        "position": position,
        "mean": _defined(measure.mean),
        "mean_over": measure.mean_over,
    }


def _class_scores(measure_id: uuid.UUID, measure: ComputedMeasure) -> list[_Row]:
    return [
        {"measure_id": measure_id, "class_name": name, "position": position, "value": _defined(value)}
        for position, (name, value) in enumerate(measure.per_class.items())
    ]


def _exact_curves(result_id: uuid.UUID, by_class: Mapping[str, AnyCurve]) -> list[_Row]:
    return [
        {
            "result_id": result_id,
            "class_name": name,
            "position": position,
            "kind": curve.kind.value,
            "points": curves.pack(curve),
        }
        for position, (name, curve) in enumerate(by_class.items())
    ]


def _eleven_points(result_id: uuid.UUID, scores: CompetitionScores, by_class: Mapping[str, AnyCurve]) -> list[_Row]:
    return [
        {
            "result_id": result_id,
            "class_name": name,
            "position": position,
            "kind": curve.kind.value,
            "values": eleven_points.eleven_points(
                curve,
                scores.details[name].positives,
                [each.per_class.get(name, math.nan) for each in (scores.primary, *scores.secondary)],
            ),
        }
        for position, (name, curve) in enumerate(by_class.items())
    ]


def _details(details: ClassDetails) -> dict[str, float | int | None]:
    return {
        "positives": details.positives,
        "results": details.results,
        "difficult": details.difficult,
        "final_recall": _defined(details.final_recall),
        "final_precision": _defined(details.final_precision),
    }


def _defined(value: float) -> float | None:
    """Convert NaN to None, because SQLite and PostgreSQL handle NaN differently."""
    return None if math.isnan(value) else float(value)
