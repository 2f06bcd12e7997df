"""Copies for the web of exact curves, confusion matrices and diagnoses, of phases whose ground truth is public.

The worker alone reads the exact ones. It copies them where the phase's detail level is `everything`: with each
evaluation, and in its sweep, which finds phases whose level has changed. Below that level the sweep deletes them.
"""

from typing import Any

from sqlalchemy import ColumnElement, Delete, Insert, Select, delete, exists, select
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import ChallengePhase, Detail
from vocboard.app.database import insert_into
from vocboard.app.evaluations.models import (
    CompetitionResult,
    Evaluation,
    PublicConfusionMatrix,
    PublicCurve,
    PublicDiagnosis,
    SecretConfusionMatrix,
    SecretCurve,
    SecretDiagnosis,
)
from vocboard.app.submissions.models import Submission

_Secret = type[SecretCurve] | type[SecretConfusionMatrix] | type[SecretDiagnosis]
_Public = type[PublicCurve] | type[PublicConfusionMatrix] | type[PublicDiagnosis]
_TABLES: tuple[tuple[_Secret, _Public], ...] = (
    (SecretCurve, PublicCurve),
    (SecretConfusionMatrix, PublicConfusionMatrix),
    (SecretDiagnosis, PublicDiagnosis),
)


def synchronise(session: Session) -> None:
    """Make the copies those of all phases whose level is `everything` now, and of no other."""
    for _, public in _TABLES:
        session.execute(_deletion(public))
    add_missing(session)


def add_missing(session: Session, *which: ColumnElement[bool]) -> None:
    """Add missing copies.

    Args:
        which: additional conditions on results and evaluations.
    """
    # One statement instead of three where, as nearly always, there is nothing to copy.
    if session.scalar(_of_public_phases(select(CompetitionResult.id)).where(*which).limit(1)) is None:
        return
    for secret, public in _TABLES:
        session.execute(_insertion(session, secret, public, *which))


def _insertion(session: Session, secret: _Secret, public: _Public, *which: ColumnElement[bool]) -> Insert:
    columns = [column.name for column in secret.__table__.columns]
    missing = (
        _of_public_phases(select(*(secret.__table__.c[name] for name in columns)))
        .where(CompetitionResult.id == secret.result_id, *which)
        .where(~exists().where(public.result_id == CompetitionResult.id))
    )
    adding = insert_into(session, public).from_select(columns, missing)
    insertion: Insert = adding.on_conflict_do_nothing()  # another worker may copy the same at this moment
    return insertion


def _deletion(public: _Public) -> Delete:
    kept = _of_public_phases(select(CompetitionResult.id)).where(CompetitionResult.id == public.result_id)
    return delete(public).where(~exists(kept.correlate(public))).execution_options(synchronize_session=False)


def _of_public_phases(query: Select[Any]) -> Select[Any]:
    return (
        query.where(CompetitionResult.evaluation_id == Evaluation.id)
        .join_from(Evaluation, Submission, Evaluation.submission_id == Submission.id)
        .join(ChallengePhase, Submission.phase_id == ChallengePhase.id)
        .where(ChallengePhase.detail == Detail.EVERYTHING)
    )
