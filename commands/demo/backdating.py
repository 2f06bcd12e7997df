"""Dates of the demo's example challenges: what is done now is stored as if it had been done some days ago."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.orm import Session

from vocboard.app.audit.models import AuditEvent
from vocboard.app.challenges.models import (
    Challenge,
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

_OF_CHALLENGES = (
    AuditEvent,
    ChallengeInvitation,
    ChallengePhase,
    GroundTruthVersion,
    Method,
    Rescore,
    Scoring,
    Submission,
)


@dataclass(frozen=True, slots=True)
class _Move:
    """Which times are moved, and how far back."""

    began: datetime
    ended: datetime
    by: timedelta

    def rows(self, session: Session, model: type[Base], which: ColumnElement[bool]) -> None:
        """Move the times of some rows."""
        table = Base.metadata.tables[model.__tablename__]
        times = [column for column in table.columns if isinstance(column.type, UTCDateTime)]
        keys = list(table.primary_key)
        found = select(*keys, *times).where(which, or_(*(time.between(self.began, self.ended) for time in times)))
        for row in session.execute(found).mappings().all():
            values = {
                time.name: row[time] - self.by
                for time in times
                if row[time] is not None and self.began <= row[time] <= self.ended
            }
            session.execute(update(table).where(*(key == row[key] for key in keys)).values(values))


@contextmanager
def days_ago(database: Database, slug: str, days: float) -> Iterator[None]:
    """Move all times that are stored about a challenge during the block to so many days before.

    The block waits for everything that it starts. Times outside the duration of the block, such as a deadline that it
    sets, stay.
    """
    began = now()
    yield
    move = _Move(began, now(), timedelta(days=days))
    with database.writing() as session:
        challenge_id = session.scalar(select(Challenge.id).where(Challenge.slug == slug))
        submissions = select(Submission.id).where(Submission.challenge_id == challenge_id)
        rescores = select(Rescore.id).where(Rescore.challenge_id == challenge_id)
        move.rows(session, Challenge, Challenge.id == challenge_id)
        move.rows(session, Evaluation, Evaluation.submission_id.in_(submissions))
        move.rows(session, RescoreItem, RescoreItem.rescore_id.in_(rescores))
        phases = select(ChallengePhase.id).where(ChallengePhase.challenge_id == challenge_id)
        move.rows(session, ExtraQuota, ExtraQuota.phase_id.in_(phases))
        for model in _OF_CHALLENGES:
            move.rows(session, model, model.challenge_id == challenge_id)
