"""The steps of re-scores: batches of submissions (`app.rescores.batches`), then a report, then the switch."""

import uuid

from sqlalchemy import Select, exists, select, update
from sqlalchemy.orm import Session

from vocboard.app.challenges.ground_truth import UNFINISHED
from vocboard.app.challenges.models import GroundTruthVersion
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.app.leaderboards.models import OPEN, Rescore, RescoreItem, RescoreState
from vocboard.app.leaderboards.queries import revision_number
from vocboard.app.rescores import batches, rounds
from vocboard.app.rescores.queries import is_concerned
from vocboard.app.submissions.models import State, Submission


def add_missing(session: Session, evaluator_version: str) -> None:
    """Add the jobs of open re-scores that need a step: for what no job was added, such as a changed leaderboard."""
    for rescore in session.scalars(select(Rescore).where(Rescore.state.in_(OPEN)).order_by(Rescore.created_at)):
        if is_workable(session, rescore, evaluator_version) and needs_step(session, rescore, evaluator_version):
            jobs.add(session, Kind.RESCORE, rescore.id)


def add_waiting(session: Session, version_id: uuid.UUID) -> None:
    """Add the jobs of re-scores that have waited for the import of a version of the ground truth."""
    waiting = select(Rescore.id).where(Rescore.state.in_(OPEN), Rescore.ground_truth_version_id == version_id)
    for rescore_id in session.scalars(waiting).all():
        jobs.add(session, Kind.RESCORE, rescore_id)


def add_if_evaluated(session: Session, rescore_id: uuid.UUID) -> None:
    """Add the job that reports, if all submissions of a re-score are evaluated. Call it after their transaction."""
    rescore = session.get(Rescore, rescore_id)
    if rescore is not None and rescore.state in OPEN and not _unfinished(session, rescore):
        jobs.add_again(session, Kind.RESCORE, rescore_id, urgent=rescore.apply_requested_at is not None)


def is_workable(session: Session, rescore: Rescore, evaluator_version: str) -> bool:
    """Whether workers of this version can work on a re-score.

    Those started by a later version of the evaluator are left to it; those that were started with an upload wait for
    its import.
    """
    version = session.get_one(GroundTruthVersion, rescore.ground_truth_version_id)
    if version.state in UNFINISHED:
        return False
    return rescore.evaluator_version is None or _comparable(rescore.evaluator_version) <= _comparable(evaluator_version)


def lock_open(session: Session, rescore_id: uuid.UUID) -> Rescore | None:
    """Return an unfinished re-score, locked until the end of the transaction."""
    query = select(Rescore).where(Rescore.id == rescore_id, Rescore.state.in_(OPEN)).with_for_update()
    return session.scalar(query.execution_options(populate_existing=True))


def needs_step(session: Session, rescore: Rescore, evaluator_version: str) -> bool:
    """Whether there is work other than evaluating: starting, adding submissions, reporting, applying."""
    if has_ended_submission(session, rescore):
        return True
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
    return rescore.report_revision != revision_number(session, rescore.challenge_id)


def has_ended_submission(session: Session, rescore: Rescore) -> bool:
    """Whether the one submission of a re-score was withdrawn or marked as failed: there is nothing to apply."""
    states = (State.WITHDRAWN, State.FAILED)
    ended = select(Submission.id).where(Submission.id == rescore.submission_id, Submission.state.in_(states))
    return rescore.submission_id is not None and session.scalar(ended) is not None


def begin(session: Session, rescore: Rescore, evaluator_version: str) -> None:
    """Start evaluating, or restart with a later version of the evaluator, because results are never mixed."""
    rounds.begin(session, rescore)
    rescore.evaluator_version = evaluator_version
    rescore.state, rescore.report_revision = RescoreState.RUNNING, None
    rescore.apply_requested_at = rescore.apply_requested_by_id = None  # it refers to other results
    batches.remove(session, rescore.id)
    session.execute(
        update(RescoreItem)
        .where(RescoreItem.rescore_id == rescore.id)
        .values(batch_id=None, finished_at=None, failure=None, failure_detail=None)
    )
    add_late(session, rescore)


def has_late(session: Session, rescore: Rescore) -> bool:
    """Whether submissions were scored after the re-score began, which are in none of its batches yet."""
    unbatched = (
        select(RescoreItem.submission_id)
        .join(Submission, Submission.id == RescoreItem.submission_id)
        .where(RescoreItem.rescore_id == rescore.id, batches.is_in_none())
    )
    return any(session.scalar(query.limit(1)) is not None for query in (_late(rescore), unbatched))


def add_late(session: Session, rescore: Rescore) -> None:
    """Add the submissions of `has_late`, and discard an outdated report."""
    rescore.report_revision = None
    rounds.add_missing(session, rescore)
    for submission_id in session.scalars(_late(rescore)).all():
        session.add(RescoreItem(rescore_id=rescore.id, submission_id=submission_id))
    session.flush()
    batches.add(session, rescore)


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
