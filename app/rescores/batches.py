"""The queue of submissions in re-scores, which are leased to workers in batches.

`work_queues.LeasedQueue` is for queues that are claimed row by row. Here one lease holds several rows, which are
stored in one transaction.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge, ChallengePhase, EditionVersion, GroundTruthVersion
from vocboard.app.challenges.queries import is_phase_of_version, truth_phase_of_submission
from vocboard.app.database import now
from vocboard.app.rescores import rounds
from vocboard.app.rescores.models import OPEN, Rescore, RescoreItem
from vocboard.app.submissions.models import State, Submission
from vocboard.app.work_queues.leased_queue import LeasedQueue

SIZE = 16  # submissions per batch; those of a killed worker are evaluated again
GIVEN_UP = "The evaluation was interrupted several times."


@dataclass(frozen=True, slots=True)
class Item:
    """A submission to evaluate.

    Attributes:
        segmentation_classes: classes declared by the participant; None for all.
        has_archive: False if it was imported without its archive.
    """

    submission_id: uuid.UUID
    archive_sha256: str
    columns_sha256: str | None
    columns_reader: int | None
    segmentation_classes: tuple[str, ...] | None
    has_archive: bool


@dataclass(frozen=True, slots=True)
class BatchClaim:
    """A worker's claim on some submissions of a re-score.

    Attributes:
        round_id: the first scoring of the re-score, which changes when it is restarted.
        scoring_id: that the evaluations belong to.
        edition: its name.
        edition_file: the text of the organiser's own.
        image_set: which the phase of the ground truth is scored on; None for those of the edition.
        truth_sha256: of the ground truth to score against.
    """

    rescore_id: uuid.UUID
    round_id: uuid.UUID
    scoring_id: uuid.UUID
    lease_id: uuid.UUID
    edition: str
    edition_file: str | None
    image_set: str | None
    truth_sha256: str
    items: tuple[Item, ...]


_queue: LeasedQueue[BatchClaim] = LeasedQueue(
    RescoreItem,
    is_waiting=and_(RescoreItem.finished_at.is_(None), RescoreItem.lease_id.is_(None)),
    is_claimed=and_(RescoreItem.finished_at.is_(None), RescoreItem.lease_id.is_not(None)),
    rows_of=lambda claim: RescoreItem.rescore_id == claim.rescore_id,
)


def count_waiting(session: Session, rescore_id: uuid.UUID) -> int:
    """Return the number of submissions of a re-score that can be claimed now."""
    query = (
        select(func.count())
        .select_from(RescoreItem)
        .join(Submission, Submission.id == RescoreItem.submission_id)
        .where(
            RescoreItem.rescore_id == rescore_id,
            or_(_queue.is_waiting, _queue.is_expired()),
            Submission.state == State.SCORED,
        )
    )
    return session.scalar(query) or 0


def give_up(session: Session, rescore_id: uuid.UUID, *, attempts: int) -> int:
    """Return submissions of dead workers to the queue, or fail them after too many attempts; return how many failed."""
    released = _queue.release_expired(
        session,
        attempts=attempts,
        given_up={"finished_at": now(), "failure": GIVEN_UP},
        among=RescoreItem.rescore_id == rescore_id,
    )
    return released.given_up


def claim(session: Session, rescore: Rescore, round_id: uuid.UUID, *, lease: timedelta) -> BatchClaim | None:
    """Claim some submissions of a re-score for the duration `lease`; None if none is waiting. Call `give_up` before.

    All are scored against the same ground truth. A submission whose evaluation was interrupted before is claimed alone,
    so that it cannot affect others.

    Args:
        round_id: the first scoring of the re-score, which has begun.
    """
    waiting = session.execute(
        select(RescoreItem.submission_id, RescoreItem.attempts, truth_phase_of_submission().label("truth_phase"))
        .join(Submission, Submission.id == RescoreItem.submission_id)
        .where(RescoreItem.rescore_id == rescore.id, _queue.is_waiting, Submission.state == State.SCORED)
        .order_by(RescoreItem.attempts, Submission.challenge_id, Submission.created_at, Submission.id)
        .limit(SIZE)
        .with_for_update(of=RescoreItem, skip_locked=True)
    ).all()
    if not waiting:
        return None
    first = waiting[0]
    chosen = [row.submission_id for row in waiting if not row.attempts and row.truth_phase == first.truth_phase]
    chosen = chosen or [first.submission_id]
    scoring = rounds.by_phase(session, rescore)[first.truth_phase]
    of_these = and_(RescoreItem.rescore_id == rescore.id, RescoreItem.submission_id.in_(chosen))
    lease_id = _queue.claim_rows(session, of_these, lease=lease)
    if lease_id is None:
        return None
    name, file, image_set, truth = session.execute(
        select(
            Challenge.edition,
            func.coalesce(EditionVersion.file, Challenge.edition_file),
            ChallengePhase.image_set,
            GroundTruthVersion.sha256,
        )
        .join(GroundTruthVersion, GroundTruthVersion.challenge_id == Challenge.id)
        .outerjoin(ChallengePhase, is_phase_of_version())
        .outerjoin(
            EditionVersion,
            and_(EditionVersion.challenge_id == Challenge.id, EditionVersion.number == rescore.edition_version),
        )
        .where(GroundTruthVersion.id == scoring.ground_truth_version_id)
    ).one()
    items = _items(session, chosen)
    return BatchClaim(rescore.id, round_id, scoring.id, lease_id, name, file, image_set, truth or "", items)


def renew(session: Session, claim: BatchClaim, *, lease: timedelta) -> bool:
    """Renew the lease of a batch; False if the claim has been lost."""
    return _queue.renew(session, claim, lease=lease)


def still_held(session: Session, claim: BatchClaim) -> frozenset[uuid.UUID]:
    """Return the submissions of a batch whose results may be stored, locked for this transaction.

    There are none if the re-score was discarded or restarted in the meantime.
    """
    round_id = session.scalar(
        select(Rescore.scoring_id)
        .where(Rescore.id == claim.rescore_id, Rescore.state.in_(OPEN))
        .with_for_update(read=True)
    )
    if round_id != claim.round_id:
        return frozenset()
    return frozenset(
        session.scalars(select(RescoreItem.submission_id).where(_queue.is_claimed_by(claim)).with_for_update())
    )


def finish(session: Session, claim: BatchClaim, submission_ids: Sequence[uuid.UUID]) -> None:
    """Record that the evaluations of some submissions are stored."""
    _finish(session, claim, submission_ids)


def fail(session: Session, claim: BatchClaim, submission_id: uuid.UUID, *, failure: str, detail: str) -> None:
    """Record that a submission cannot be evaluated.

    Args:
        failure: message for the organisers.
        detail: details for the operator.
    """
    _finish(session, claim, [submission_id], failure=failure, failure_detail=detail)


def release(session: Session, claim: BatchClaim, *, but: Sequence[uuid.UUID] = ()) -> None:
    """Return the remaining submissions to the queue, as if they had not been claimed.

    Args:
        but: submissions that stay claimed until the lease expires, which counts as an attempt.
    """
    _queue.give_back(session, claim, only=RescoreItem.submission_id.not_in(but))


def hold(session: Session, claim: BatchClaim) -> None:
    """Leave the remaining submissions claimed until the lease ends, which counts as no attempt."""
    _queue.hold(session, claim)


def _items(session: Session, submission_ids: Sequence[uuid.UUID]) -> tuple[Item, ...]:
    rows = session.execute(
        select(
            Submission.id,
            Submission.archive_sha256,
            Submission.columns_sha256,
            Submission.columns_reader,
            Submission.segmentation_classes,
            Submission.has_archive,
        )
        .where(Submission.id.in_(submission_ids))
        .order_by(Submission.created_at, Submission.id)
    )
    return tuple(Item(*row[:4], None if row[4] is None else tuple(row[4]), row[5]) for row in rows)


def _finish(session: Session, claim: BatchClaim, submission_ids: Sequence[uuid.UUID], **values: object) -> None:
    final = {"finished_at": now(), **values}
    _queue.finish(session, claim, final, only=RescoreItem.submission_id.in_(submission_ids))
