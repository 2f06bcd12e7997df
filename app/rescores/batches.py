"""Batches of submissions in a re-score. One job evaluates a batch, which is stored in one transaction."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby

from sqlalchemy import ColumnElement, and_, func, select, update
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge, ChallengePhase, EditionVersion, GroundTruthVersion
from vocboard.app.database import now
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.app.leaderboards.models import OPEN, Rescore, RescoreItem
from vocboard.app.rescores import rounds
from vocboard.app.submissions.models import FILES_ONLY, State, Submission, Uploaded

SIZE = 16  # submissions per batch; those of a killed worker are evaluated again
GIVEN_UP = "The evaluation was interrupted several times."


@dataclass(frozen=True, slots=True)
class Item:
    """A submission to evaluate."""

    submission_id: uuid.UUID
    uploaded: Uploaded


@dataclass(frozen=True, slots=True)
class Batch:
    """Some submissions of a re-score that are still to be evaluated, against the same ground truth.

    Attributes:
        scoring_id: that the evaluations belong to.
        edition: its name.
        edition_file: the text of the organiser's own.
        image_set: which the phase of the ground truth is scored on; None for those of the edition.
        truth_sha256: of the ground truth to score against.
        evaluator_version: that the re-score began with.
    """

    id: uuid.UUID
    rescore_id: uuid.UUID
    scoring_id: uuid.UUID
    edition: str
    edition_file: str | None
    image_set: str | None
    truth_sha256: str
    evaluator_version: str | None
    items: tuple[Item, ...]


def add(session: Session, rescore: Rescore) -> None:
    """Divide the submissions that are in no batch into batches, and add a job for each."""
    rows = session.execute(
        select(RescoreItem.submission_id, ChallengePhase.truth_phase_id)
        .join(Submission, Submission.id == RescoreItem.submission_id)
        .join(ChallengePhase, ChallengePhase.id == Submission.phase_id)
        .where(RescoreItem.rescore_id == rescore.id, is_in_none())
        .order_by(ChallengePhase.truth_phase_id, Submission.challenge_id, Submission.created_at, Submission.id)
    ).all()
    for _, of_phase in groupby(rows, key=lambda row: row.truth_phase_id):
        ids = [row.submission_id for row in of_phase]
        for start in range(0, len(ids), SIZE):
            _add(session, rescore, ids[start : start + SIZE])


def split(
    session: Session,
    batch: Batch,
    submission_ids: Sequence[uuid.UUID],
    *,
    attempts: int,
    after: timedelta = timedelta(),
) -> None:
    """Give each of some submissions a batch for itself, so that it cannot affect others.

    Args:
        attempts: number of times that their evaluation was interrupted.
        after: when they are due.
    """
    rescore = session.get_one(Rescore, batch.rescore_id)
    for submission_id in submission_ids:
        _add(session, rescore, [submission_id], attempts=attempts, after=after)


def load(session: Session, batch_id: uuid.UUID) -> Batch | None:
    """Return what is left of a batch; None if that is nothing, or its re-score has ended."""
    rescore = session.scalar(
        select(Rescore)
        .join(RescoreItem, RescoreItem.rescore_id == Rescore.id)
        .where(RescoreItem.batch_id == batch_id, Rescore.state.in_(OPEN))
        .limit(1)
    )
    if rescore is None:
        return None
    rows = session.execute(
        select(Submission, ChallengePhase.truth_phase_id)
        .join(RescoreItem, RescoreItem.submission_id == Submission.id)
        .join(ChallengePhase, ChallengePhase.id == Submission.phase_id)
        .where(_is_left(batch_id))
        .options(FILES_ONLY)
        .order_by(Submission.created_at, Submission.id)
    ).all()
    if not rows:
        return None
    scoring = rounds.by_phase(session, rescore)[rows[0].truth_phase_id]
    name, file, image_set, truth = session.execute(
        select(
            Challenge.edition,
            func.coalesce(EditionVersion.file, Challenge.edition_file),
            ChallengePhase.image_set,
            GroundTruthVersion.sha256,
        )
        .join(GroundTruthVersion, GroundTruthVersion.challenge_id == Challenge.id)
        .join(ChallengePhase, ChallengePhase.id == GroundTruthVersion.phase_id)
        .outerjoin(
            EditionVersion,
            and_(EditionVersion.challenge_id == Challenge.id, EditionVersion.number == rescore.edition_version),
        )
        .where(GroundTruthVersion.id == scoring.ground_truth_version_id)
    ).one()
    items = tuple(Item(submission.id, submission.uploaded) for submission, _ in rows)
    return Batch(batch_id, rescore.id, scoring.id, name, file, image_set, truth or "", rescore.evaluator_version, items)


def lock(session: Session, batch: Batch) -> frozenset[uuid.UUID]:
    """Return the submissions whose results may be stored, locked for this transaction.

    There are none if the re-score was discarded or restarted meanwhile.
    """
    is_open = Rescore.id == batch.rescore_id, Rescore.state.in_(OPEN)
    if session.scalar(select(Rescore.id).where(*is_open).with_for_update(read=True)) is None:
        return frozenset()
    left = select(RescoreItem.submission_id).where(RescoreItem.batch_id == batch.id, RescoreItem.finished_at.is_(None))
    return frozenset(session.scalars(left.with_for_update()))


def finish(session: Session, batch: Batch, submission_ids: Collection[uuid.UUID], **failure: str) -> None:
    """Record that the evaluations of some submissions are stored, or that they cannot be evaluated.

    Args:
        failure: `failure`, the message for organisers, and `failure_detail` for the operator.
    """
    of_these = RescoreItem.rescore_id == batch.rescore_id, RescoreItem.submission_id.in_(submission_ids)
    _update(session, *of_these, finished_at=now(), **failure)


def has_left(session: Session, batch_id: uuid.UUID) -> bool:
    """Whether submissions of a batch are still to be evaluated."""
    query = select(RescoreItem.submission_id).join(Submission, Submission.id == RescoreItem.submission_id)
    return session.scalar(query.where(_is_left(batch_id)).limit(1)) is not None


def dissolve(session: Session, batch_id: uuid.UUID) -> None:
    """Let submissions that are not scored at present, such as disqualified ones, be in no batch."""
    _update(session, RescoreItem.batch_id == batch_id, RescoreItem.finished_at.is_(None), batch_id=None)


def remove(session: Session, rescore_id: uuid.UUID) -> None:
    """Remove the batches of a re-score that starts again; workers that evaluate them can store nothing."""
    query = select(RescoreItem.batch_id).where(RescoreItem.rescore_id == rescore_id, RescoreItem.batch_id.is_not(None))
    jobs.cancel(session, Kind.BATCH, [batch_id for batch_id in session.scalars(query.distinct()) if batch_id])


def is_in_none() -> ColumnElement[bool]:
    """Condition on items, joined with submissions: they are to be evaluated, and in no batch."""
    return and_(RescoreItem.batch_id.is_(None), RescoreItem.finished_at.is_(None), Submission.state == State.SCORED)


def _is_left(batch_id: uuid.UUID) -> ColumnElement[bool]:
    return and_(RescoreItem.batch_id == batch_id, RescoreItem.finished_at.is_(None), Submission.state == State.SCORED)


def _add(
    session: Session,
    rescore: Rescore,
    submission_ids: Sequence[uuid.UUID],
    *,
    attempts: int = 0,
    after: timedelta = timedelta(),
) -> None:
    batch_id = uuid.uuid4()
    _update(
        session,
        RescoreItem.rescore_id == rescore.id,
        RescoreItem.submission_id.in_(submission_ids),
        batch_id=batch_id,
    )
    priority = None if rescore.apply_requested_at is None else jobs.URGENT
    jobs.add_all(session, Kind.BATCH, [(batch_id, None)], priority=priority, after=after, attempts=attempts)


def _update(session: Session, *conditions: ColumnElement[bool], **values: object) -> None:
    changing = update(RescoreItem).where(*conditions).values(**values)
    session.execute(changing.execution_options(synchronize_session=False))
