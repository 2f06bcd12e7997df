"""The work queue of re-scores: batches of submissions (`app.rescores.batches`), then a report, then the switch.

All state is in the database, so dead workers and lost messages only cause delays.
"""

import uuid
from collections.abc import Sequence

from sqlalchemy import Select, exists, select, update
from sqlalchemy.orm import Session

from vocboard.app.challenges.ground_truth import UNFINISHED
from vocboard.app.challenges.models import GroundTruthVersion
from vocboard.app.leaderboards.models import LeaderboardRevision
from vocboard.app.rescores import batches, rounds
from vocboard.app.rescores.models import OPEN, Rescore, RescoreItem, RescoreState
from vocboard.app.rescores.queries import is_concerned
from vocboard.app.submissions import queue as live_queue
from vocboard.app.submissions.models import State, Submission


def due(session: Session, evaluator_version: str) -> int:
    """Return the number of tasks that have work."""
    tasks = 0
    for rescore in workable(session, evaluator_version):
        tasks += -(-batches.count_waiting(session, rescore.id) // batches.SIZE)
        tasks += needs_step(session, rescore, evaluator_version)
    return tasks


def workable(session: Session, evaluator_version: str) -> Sequence[Rescore]:
    """Return the re-scores to work on now, oldest first.

    While new submissions are queued, these are only re-scores to apply. Re-scores started by a later version of the
    evaluator are left to it. Those that were started with an upload wait for its import.
    """
    found = session.scalars(
        select(Rescore)
        .join(GroundTruthVersion, GroundTruthVersion.id == Rescore.ground_truth_version_id)
        .where(Rescore.state.in_(OPEN), GroundTruthVersion.state.not_in(UNFINISHED))
        .order_by(Rescore.created_at, Rescore.id)
    )
    mine = _comparable(evaluator_version)
    known = [one for one in found if one.evaluator_version is None or _comparable(one.evaluator_version) <= mine]
    if known and live_queue.waiting(session):
        return [one for one in known if one.apply_requested_at is not None]
    return known


def lock_open(session: Session, rescore_id: uuid.UUID) -> Rescore | None:
    """Return an unfinished re-score, locked until the end of the transaction; None if another process has it."""
    query = select(Rescore).where(Rescore.id == rescore_id, Rescore.state.in_(OPEN)).with_for_update(skip_locked=True)
    return session.scalar(query.execution_options(populate_existing=True))


def needs_step(session: Session, rescore: Rescore, evaluator_version: str) -> bool:
    """Whether there is work other than evaluating: starting, adding submissions, reporting, applying."""
    if rescore.scoring_id is None or rescore.evaluator_version != evaluator_version or has_late(session, rescore):
        return True
    if _unfinished(session, rescore):
        return False
    if (
        rescore.state is RescoreState.RUNNING
        or rescore.report_revision is None
        or rescore.apply_requested_at is not None
    ):
        return True
    return rescore.report_revision != revision(session, rescore.challenge_id)


def begin(session: Session, rescore: Rescore, evaluator_version: str) -> None:
    """Start evaluating, or restart with a later version of the evaluator, because results are never mixed."""
    rounds.begin(session, rescore)
    rescore.evaluator_version = evaluator_version
    rescore.state, rescore.report_revision = RescoreState.RUNNING, None
    rescore.apply_requested_at = rescore.apply_requested_by_id = None  # it refers to other results
    session.execute(
        update(RescoreItem)
        .where(RescoreItem.rescore_id == rescore.id)
        .values(lease_id=None, lease_expires_at=None, attempts=0, finished_at=None, failure=None, failure_detail=None)
    )
    add_late(session, rescore)


def has_late(session: Session, rescore: Rescore) -> bool:
    """Whether submissions were scored after the re-score began, which it does not contain yet."""
    return session.scalar(_late(rescore).limit(1)) is not None


def add_late(session: Session, rescore: Rescore) -> None:
    """Add the submissions of `has_late`, and discard an outdated report."""
    rescore.report_revision = None
    rounds.add_missing(session, rescore)
    for submission_id in session.scalars(_late(rescore)).all():
        session.add(RescoreItem(rescore_id=rescore.id, submission_id=submission_id))
    session.flush()


def revision(session: Session, challenge_id: uuid.UUID) -> int:
    """Return the current revision of a challenge's leaderboards."""
    query = select(LeaderboardRevision.revision).where(LeaderboardRevision.challenge_id == challenge_id)
    return session.scalar(query) or 0


def is_finished(session: Session, rescore: Rescore) -> bool:
    """Whether all its submissions were evaluated or have failed."""
    return rescore.scoring_id is not None and not has_late(session, rescore) and not _unfinished(session, rescore)


def _comparable(version: str) -> tuple[int, ...]:
    """Return a version such as 1.2.0 as numbers, so that 1.10.0 is later than 1.9.0."""
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _late(rescore: Rescore) -> Select[uuid.UUID]:
    return (
        select(Submission.id)
        .where(is_concerned(rescore), Submission.state == State.SCORED)
        .where(
            ~exists().where(RescoreItem.rescore_id == rescore.id, RescoreItem.submission_id == Submission.id),
        )
        .order_by(Submission.created_at, Submission.id)
    )


def _unfinished(session: Session, rescore: Rescore) -> bool:
    if rescore.scoring_id is None:
        return True
    query = (
        select(RescoreItem.submission_id)
        .join(Submission, Submission.id == RescoreItem.submission_id)
        .where(
            RescoreItem.rescore_id == rescore.id,
            RescoreItem.finished_at.is_(None),
            Submission.state == State.SCORED,
        )
    )
    return session.scalar(query.limit(1)) is not None
