"""Database queries for re-scores."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, contains_eager, joinedload, selectinload

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge, GroundTruthVersion
from vocboard.app.challenges.queries import organised_by
from vocboard.app.errors import NotFoundError
from vocboard.app.leaderboards.models import OPEN, Rescore, RescoreItem, RescoreState
from vocboard.app.rescores.summaries import summarise
from vocboard.app.submissions.models import State, Submission
from vocboard.app.submissions.queries import is_scored_with_truth_of
from vocboard.evaluator.problems import counted


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a re-score: evaluated submissions, and their total number."""

    done: int
    total: int


def is_concerned(rescore: Rescore) -> ColumnElement[bool]:
    """Condition on submissions: a re-score evaluates them."""
    if rescore.submission_id is not None:
        return Submission.id == rescore.submission_id
    return is_compared(rescore)


def is_compared(rescore: Rescore) -> ColumnElement[bool]:
    """Condition on submissions: the report of a re-score compares them.

    They are in a phase with the ground truth that it is about; all are, if it changes the edition.
    """
    if rescore.changes_edition:
        return Submission.challenge_id == rescore.challenge_id
    truth_phase = select(GroundTruthVersion.phase_id).where(GroundTruthVersion.id == rescore.ground_truth_version_id)
    return is_scored_with_truth_of(truth_phase.scalar_subquery())


def get_organised(session: Session, rescore_id: uuid.UUID, user: User) -> Rescore:
    """Return a re-score with its challenge (with phases), ground truth version, submission and starter.

    Raises:
        NotFoundError: it does not exist, or the user does not organise its challenge.
    """
    rescore = session.scalar(
        select(Rescore)
        .join(Rescore.challenge)
        .where(Rescore.id == rescore_id, organised_by(user))
        .options(
            contains_eager(Rescore.challenge).selectinload(Challenge.phases),
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


def latest_by_version(session: Session, challenge: Challenge) -> Mapping[uuid.UUID, uuid.UUID]:
    """Return the latest re-score of all submissions with each version of the ground truth, by the version's id."""
    rows = session.execute(
        select(Rescore.ground_truth_version_id, Rescore.id)
        .where(Rescore.challenge_id == challenge.id, Rescore.submission_id.is_(None))
        .order_by(Rescore.created_at, Rescore.id)
    )
    return {row.ground_truth_version_id: row.id for row in rows}


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


def any_open(session: Session, challenge_id: uuid.UUID) -> Rescore | None:
    """Return the oldest unfinished re-score of a challenge or of one of its submissions."""
    return session.scalar(
        select(Rescore)
        .where(Rescore.challenge_id == challenge_id, Rescore.state.in_(OPEN))
        .order_by(Rescore.created_at, Rescore.id)
        .limit(1)
    )


def is_one_running(session: Session, challenge_id: uuid.UUID) -> bool:
    """Whether workers are evaluating submissions again, all or one."""
    is_running = Rescore.state == RescoreState.RUNNING
    return (
        session.scalar(select(Rescore.id).where(Rescore.challenge_id == challenge_id, is_running).limit(1)) is not None
    )


def progress(session: Session, rescore: Rescore) -> Progress:
    """Return the progress of a re-score, without submissions that were withdrawn in the meantime."""
    counts = Submission.state == State.SCORED
    if rescore.scoring_id is None and rescore.state is RescoreState.APPLIED:  # on the server of an imported challenge
        return Progress(0, 0)
    if rescore.scoring_id is None:  # no worker has begun
        waiting = select(func.count()).select_from(Submission).where(counts, is_concerned(rescore))
        return Progress(0, session.scalar(waiting) or 0)
    row = session.execute(
        select(func.count(RescoreItem.finished_at), func.count())
        .select_from(RescoreItem)
        .join(Submission, Submission.id == RescoreItem.submission_id)
        .where(RescoreItem.rescore_id == rescore.id, counts)
    ).one()
    return Progress(row[0], row[1])


def summary(rescore: Rescore) -> Mapping[str, Any] | None:
    """Return the summary of the report of a re-score; None while it has none."""
    if rescore.report_summary is None and rescore.report is not None:
        return summarise(rescore.report)
    return rescore.report_summary


def attention(rescore: Rescore) -> tuple[str, ...]:
    """Return why applying a re-score has to be confirmed, as sentences; empty if it does not.

    Published results are lost, or it is against other images or other classes.
    """
    report = summary(rescore) if rescore.state is RescoreState.READY else None
    if report is None:
        return ()
    found = []
    if lost := report.get("lost_published", 0):
        found.append(f"{counted(lost, 'published submission')} would lose results, and leave the leaderboards.")
    images = report.get("images")
    if images is not None and images["differ"]:
        found.append(f"The test images differ: {images['before']:,} before, {images['after']:,} after.")
    classes = report.get("classes", {})
    if names := classes.get("missing"):
        have = "class has" if len(names) == 1 else "classes have"
        found.append(f"{len(names)} {have} no object any more: {', '.join(names)}.")
    if names := classes.get("new"):
        found.append(f"{counted(len(names), 'class', 'classes')} had no object before: {', '.join(names)}.")
    return tuple(found)
