"""Copies of exact curves and confusion matrices for the web process, for challenges with public ground truth.

Only workers can read the originals. A worker copies them if the challenge's detail level is `everything`: with each
evaluation, and in the sweep for challenges whose level has changed. Below that level, the sweep deletes the copies.
"""

from typing import Any

from sqlalchemy import ColumnElement, Delete, Insert, Select, delete, exists, insert, select
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge, Detail
from vocboard.app.evaluations.models import (
    CompetitionResult,
    Evaluation,
    PublicConfusionMatrix,
    PublicCurve,
    SecretConfusionMatrix,
    SecretCurve,
)
from vocboard.app.submissions.models import Submission

_Secret = type[SecretCurve] | type[SecretConfusionMatrix]
_Public = type[PublicCurve] | type[PublicConfusionMatrix]
_TABLES: tuple[tuple[_Secret, _Public], ...] = (
    (SecretCurve, PublicCurve),
    (SecretConfusionMatrix, PublicConfusionMatrix),
)


def synchronise(session: Session) -> None:
    """Add and delete copies, so that exactly the challenges at the level `everything` have them."""
    for _, public in _TABLES:
        session.execute(_deletion(public))
    add_missing(session)


def add_missing(session: Session, *which: ColumnElement[bool]) -> None:
    """Add missing copies.

    Args:
        which: additional conditions on results and evaluations.
    """
    for secret, public in _TABLES:
        session.execute(_insertion(secret, public, *which))


def _insertion(secret: _Secret, public: _Public, *which: ColumnElement[bool]) -> Insert:
    columns = [column.name for column in secret.__table__.columns]
    missing = (
        _of_public_challenges(select(*(secret.__table__.c[name] for name in columns)))
        .where(CompetitionResult.id == secret.result_id, *which)
        .where(~exists().where(public.result_id == CompetitionResult.id))
    )
    return insert(public).from_select(columns, missing)


def _deletion(public: _Public) -> Delete:
    kept = _of_public_challenges(select(CompetitionResult.id)).where(CompetitionResult.id == public.result_id)
    return delete(public).where(~exists(kept.correlate(public))).execution_options(synchronize_session=False)


def _of_public_challenges(query: Select[Any]) -> Select[Any]:
    return (
        query.where(CompetitionResult.evaluation_id == Evaluation.id)
        .where(Evaluation.submission_id == Submission.id)
        .where(Submission.challenge_id == Challenge.id, Challenge.detail == Detail.EVERYTHING)
    )
