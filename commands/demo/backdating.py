"""Dates of the demo's challenges: what is done now is stored as if it had been done some days ago."""

import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.orm import Session

from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges.models import (
    Challenge,
    ChallengeFile,
    ChallengeInvitation,
    ChallengePhase,
    ExtraQuota,
    GroundTruthVersion,
    Scoring,
)
from vocboard.app.database import Base, Database, UTCDateTime, now
from vocboard.app.evaluations.models import Evaluation
from vocboard.app.leaderboards.models import Rescore, RescoreItem
from vocboard.app.submissions.models import Method, Submission

_Rows = Iterable[tuple[type[Base], ColumnElement[bool]]]
_OF_CHALLENGES = (
    AuditEvent,
    ChallengeFile,
    ChallengeInvitation,
    ChallengePhase,
    GroundTruthVersion,
    Method,
    Rescore,
    Scoring,
    Submission,
)


@contextmanager
def days_ago(database: Database, slug: str, days: float) -> Iterator[None]:
    """Move all times that are stored about a challenge during the block to so many days before.

    The block waits for everything that it starts. Times outside the duration of the block, such as a deadline that it
    sets, stay.
    """
    began = now()
    yield
    with database.writing() as session:
        challenge_id = session.scalars(select(Challenge.id).where(Challenge.slug == slug)).one()
        _move(session, began, days, _rows_of_challenge(challenge_id))


def move_submission(session: Session, began: datetime, days: float, submission_id: uuid.UUID) -> None:
    """Move all times that have been stored about a submission since `began` to so many days before."""
    method_id = select(Submission.method_id).where(Submission.id == submission_id).scalar_subquery()
    rows: _Rows = (
        (Submission, Submission.id == submission_id),
        (Method, Method.id == method_id),
        (Evaluation, Evaluation.submission_id == submission_id),
        (AuditEvent, AuditEvent.object_id == submission_id),
    )
    _move(session, began, days, rows)


def _rows_of_challenge(challenge_id: uuid.UUID) -> Iterator[tuple[type[Base], ColumnElement[bool]]]:
    submissions = select(Submission.id).where(Submission.challenge_id == challenge_id)
    rescores = select(Rescore.id).where(Rescore.challenge_id == challenge_id)
    phases = select(ChallengePhase.id).where(ChallengePhase.challenge_id == challenge_id)
    yield Challenge, Challenge.id == challenge_id
    yield Evaluation, Evaluation.submission_id.in_(submissions)
    yield RescoreItem, RescoreItem.rescore_id.in_(rescores)
    yield ExtraQuota, ExtraQuota.phase_id.in_(phases)
    for model in _OF_CHALLENGES:
        yield model, model.challenge_id == challenge_id


def _move(session: Session, began: datetime, days: float, rows: _Rows) -> None:
    """Move the times of some rows that are between `began` and now."""
    ended = now()
    for model, which in rows:
        table = Base.metadata.tables[model.__tablename__]
        times = [column for column in table.columns if isinstance(column.type, UTCDateTime)]
        keys = list(table.primary_key)
        found = select(*keys, *times).where(which, or_(*(time.between(began, ended) for time in times)))
        for row in session.execute(found).mappings().all():
            moved = {
                time.name: row[time] - timedelta(days=days)
                for time in times
                if row[time] is not None and began <= row[time] <= ended
            }
            session.execute(update(table).where(*(key == row[key] for key in keys)).values(moved))
