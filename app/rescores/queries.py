"""Database queries for re-scores."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session, contains_eager, joinedload, selectinload

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge, GroundTruthVersion
from vocboard.app.challenges.queries import organised_by
from vocboard.app.errors import NotFoundError
from vocboard.app.rescores.models import OPEN, Rescore, RescoreItem, RescoreState
from vocboard.app.submissions.models import Method, State, Submission


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a re-score: evaluated submissions, and their total number."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Correction:
    """An applied re-score, as shown on leaderboards.

    Attributes:
        method: method of the submission that was evaluated again; None for all.
    """

    id: uuid.UUID
    applied_at: datetime
    reason: str
    ground_truth_version: int
    evaluator_version: str
    method: str | None


def get_organised(session: Session, rescore_id: uuid.UUID, user: User) -> Rescore:
    """Return a re-score with its challenge (and competitions), ground truth version, submission and starter.

    Raises:
        NotFoundError: it does not exist, or the user does not organise its challenge.
    """
    rescore = session.scalar(
        select(Rescore)
        .join(Rescore.challenge)
        .where(Rescore.id == rescore_id, organised_by(user))
        .options(
            contains_eager(Rescore.challenge).selectinload(Challenge.competitions),
            joinedload(Rescore.ground_truth_version),
            joinedload(Rescore.submission).joinedload(Submission.method),
            joinedload(Rescore.started_by),
        )
    )
    if rescore is None:
        raise NotFoundError("This re-score does not exist.")
    return rescore


def of_challenge(session: Session, challenge: Challenge) -> Sequence[Rescore]:
    """Return all re-scores of a challenge, newest first, with the same data as `get_organised`."""
    return session.scalars(
        select(Rescore)
        .where(Rescore.challenge_id == challenge.id)
        .options(
            selectinload(Rescore.ground_truth_version),
            selectinload(Rescore.submission).joinedload(Submission.method),
            selectinload(Rescore.started_by),
        )
        .order_by(Rescore.created_at.desc(), Rescore.id)
    ).all()


def open_rescore(session: Session, challenge_id: uuid.UUID, submission_id: uuid.UUID | None = None) -> Rescore | None:
    """Return the unfinished re-score of a challenge, or of one submission."""
    return session.scalar(
        select(Rescore)
        .where(
            Rescore.challenge_id == challenge_id,
            Rescore.submission_id.is_(None) if submission_id is None else Rescore.submission_id == submission_id,
            Rescore.state.in_(OPEN),
        )
        .limit(1)
    )


def progress(session: Session, rescore: Rescore) -> Progress:
    """Return the progress of a re-score, without submissions that were withdrawn in the meantime."""
    counts = Submission.state == State.SCORED
    if rescore.scoring_id is None:  # no worker has started
        waiting = select(func.count()).select_from(Submission).where(counts)
        if rescore.submission_id is None:
            waiting = waiting.where(Submission.challenge_id == rescore.challenge_id)
        else:
            waiting = waiting.where(Submission.id == rescore.submission_id)
        return Progress(0, session.scalar(waiting) or 0)
    row = session.execute(
        select(func.count(RescoreItem.finished_at), func.count())
        .select_from(RescoreItem)
        .join(Submission, Submission.id == RescoreItem.submission_id)
        .where(RescoreItem.rescore_id == rescore.id, counts)
    ).one()
    return Progress(row[0], row[1])


def corrections(session: Session, challenge: Challenge) -> tuple[Correction, ...]:
    """Return the applied re-scores to show on leaderboards, newest first: of all, and of published submissions."""
    rows = session.execute(
        select(
            Rescore.id,
            Rescore.finished_at,
            Rescore.reason,
            GroundTruthVersion.number,
            Rescore.evaluator_version,
            Method.name,
        )
        .join(GroundTruthVersion, GroundTruthVersion.id == Rescore.ground_truth_version_id)
        .outerjoin(Submission, Submission.id == Rescore.submission_id)
        .outerjoin(Method, Method.id == Submission.method_id)
        .where(
            Rescore.challenge_id == challenge.id,
            Rescore.state == RescoreState.APPLIED,
            Rescore.submission_id.is_(None) | Submission.published_at.is_not(None),
        )
        .order_by(Rescore.finished_at.desc(), Rescore.id)
    )
    return tuple(
        Correction(row.id, row.finished_at, row.reason, row.number, row.evaluator_version, row.name)
        for row in rows
        if row.finished_at is not None and row.evaluator_version is not None
    )
