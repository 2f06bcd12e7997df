"""Executes re-scores: evaluates submissions again in batches, reports, and switches to the new results."""

import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from celery.exceptions import SoftTimeLimitExceeded
from sqlalchemy.orm import Session

from vocboard.app.challenges.editions import edition_from
from vocboard.app.challenges.phases import on_image_set
from vocboard.app.database import now
from vocboard.app.evaluations import service as evaluations
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.service import Claim
from vocboard.app.leaderboards.models import OPEN, Rescore, RescoreState
from vocboard.app.rescores import batches, queue, switch
from vocboard.app.rescores.batches import Batch, Item
from vocboard.evaluator import VERSION
from vocboard.evaluator.scoring import Evaluation
from vocboard.worker import ground_truth_files
from vocboard.worker.columns import evaluate
from vocboard.worker.failure_reasons import technical_reason
from vocboard.worker.process import Process
from vocboard.worker.stored_columns import OutdatedArchiveError, UnscorableError

TURN = timedelta(seconds=1)
TOOK_TOO_LONG = "The evaluation took longer than the server allows."
TOOK_TOO_MUCH_MEMORY = "The evaluation needed more memory than the server allows."
WENT_WRONG = "The archive could not be evaluated with this ground truth."

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """The result of evaluating one submission.

    Attributes:
        seconds: duration.
    """

    item: Item
    evaluation: Evaluation
    started_at: datetime
    seconds: float


@dataclass(frozen=True, slots=True)
class _Failed:
    """Why a submission could not be evaluated, for organisers and for the operator."""

    item: Item
    failure: str
    detail: str


@dataclass(slots=True)
class _Outcomes:
    """The progress of a batch.

    Attributes:
        interrupted: the submission whose evaluation was; it is not tried again immediately.
        must_wait: the ground truth cannot be read.
    """

    evaluated: list[_Evaluated] = field(default_factory=list)
    failed: list[_Failed] = field(default_factory=list)
    interrupted: uuid.UUID | None = None
    must_wait: bool = False


def step(process: Process, claim: Claim) -> None:
    """Take the next step of a re-score: start, add late submissions, report or apply."""
    with process.database.writing() as session:
        rescore = queue.lock_open(session, claim.key)
        if rescore is not None and not queue.is_workable(session, rescore, VERSION):
            rescore = None  # its import adds a job, or the sweep of a later version
        if rescore is None or not queue.needs_step(session, rescore, VERSION):
            jobs.finish(session, claim)
            return
        if switch.fail_if_unusable(session, rescore):
            done = _state_of(rescore)
        elif rescore.scoring_id is None or rescore.evaluator_version != VERSION:
            queue.begin(session, rescore, VERSION)
            done = "begun"
        elif queue.has_late(session, rescore):
            queue.add_late(session, rescore)
            done = "extended by new submissions"
        elif rescore.apply_requested_at is not None and rescore.state is RescoreState.READY:
            done = _state_of(rescore) if switch.apply(session, rescore) else "to be applied later"
        else:
            switch.make_ready(session, rescore)
            done = "reported"
        session.flush()
        if rescore.state in OPEN and queue.needs_step(session, rescore, VERSION):
            jobs.release(session, claim)
        else:
            jobs.finish(session, claim)
    _log.info("re-score %s: %s", claim.key, done)


def _state_of(rescore: Rescore) -> str:
    return rescore.state.value


def evaluate_batch(process: Process, claim: Claim) -> None:
    """Evaluate some submissions of a re-score, until a more urgent job is due or the turn is over.

    Raises:
        OSError, SQLAlchemyError: files (until the last attempt) or the database are unavailable.
    """
    until = time.monotonic() + TURN.total_seconds()
    with process.database.writing(durable=False) as session:
        batch = batches.load(session, claim.key)
        if batch is None:
            batches.dissolve(session, claim.key)
            jobs.finish(session, claim)
            return
        if batch.evaluator_version != VERSION:  # another version has started it, or starts it again
            jobs.release(session, claim, after=process.settings.lease)
            return
        if claim.attempt > 1 and len(batch.items) > 1:
            _divide(session, process, claim, batch)
            return
    with _stored_at_the_end(process, claim, batch) as outcomes:
        is_last = claim.attempt >= process.settings.evaluation_attempts
        for item in batch.items:
            _evaluate_one(process, batch, item, outcomes, is_last=is_last)
            if outcomes.must_wait or time.monotonic() > until or process.must_give_way(claim):
                break
    with process.database.writing() as session:
        queue.add_if_evaluated(session, batch.rescore_id)


def give_up(process: Process, claim: Claim) -> None:
    """Record that a submission cannot be evaluated, because that has stopped workers too often.

    Of several in a batch, any may have stopped them: each gets a batch for itself, as at a second claim.
    """
    with process.database.writing() as session:
        batch = batches.load(session, claim.key)
        if batch is not None and len(batch.items) > 1:
            _divide(session, process, claim, batch)
            return
        if batch is not None:
            batches.finish(session, batch, [batch.items[0].submission_id], failure=batches.GIVEN_UP)
        batches.dissolve(session, claim.key)
        jobs.finish(session, claim)
    if batch is not None:
        with process.database.writing() as session:
            queue.add_if_evaluated(session, batch.rescore_id)


def _divide(session: Session, process: Process, claim: Claim, batch: Batch) -> None:
    """Give each submission a batch for itself, because one of them may have stopped a worker.

    Only the first claim of a batch of several evaluates them, so one attempt counts for each; none if the server
    allows no second one.
    """
    attempts = min(1, process.settings.evaluation_attempts - 1)
    batches.split(session, batch, [item.submission_id for item in batch.items], attempts=attempts)
    batches.dissolve(session, batch.id)
    jobs.finish(session, claim)


def _evaluate_one(process: Process, batch: Batch, item: Item, outcomes: _Outcomes, *, is_last: bool) -> None:
    started_at, started = now(), time.monotonic()
    try:
        try:
            truth = ground_truth_files.load(process.settings, batch.truth_sha256)
        except OSError as error:
            _log.error("re-score %s waits: the ground truth cannot be read: %s", batch.rescore_id, error)
            outcomes.must_wait = True
            return
        edition = on_image_set(edition_from(batch.edition, batch.edition_file), batch.image_set)
        evaluation = evaluate(item.uploaded, process, edition, truth)
        if unavailable := evaluation.unavailable:
            raise UnscorableError(f"the ground truth has nothing on {', '.join(unavailable)}")
    except OSError as error:
        if not is_last:
            outcomes.interrupted = item.submission_id
            raise
        outcomes.failed.append(_failed(item, WENT_WRONG, error))
    except SoftTimeLimitExceeded as error:
        outcomes.failed.append(_failed(item, TOOK_TOO_LONG, error))
        raise  # the task's time is over
    except MemoryError as error:
        outcomes.failed.append(_failed(item, TOOK_TOO_MUCH_MEMORY, error))
    except OutdatedArchiveError as error:
        outcomes.failed.append(_failed(item, error.for_owner, error))
    except Exception as error:
        outcomes.failed.append(_failed(item, WENT_WRONG, error))
    else:
        outcomes.evaluated.append(_Evaluated(item, evaluation, started_at, time.monotonic() - started))


def _failed(item: Item, failure: str, error: BaseException) -> _Failed:
    _log.exception("submission %s could not be evaluated again", item.submission_id)
    return _Failed(item, failure, technical_reason(error))


@contextmanager
def _stored_at_the_end(process: Process, claim: Claim, batch: Batch) -> Iterator[_Outcomes]:
    """Store finished evaluations, even if an error stops the batch; the rest can be claimed again."""
    outcomes = _Outcomes()
    try:
        yield outcomes
    except SoftTimeLimitExceeded:
        _log.warning("re-score %s: a submission took too long", batch.rescore_id)
    finally:
        lease = process.settings.lease
        process.store_result(partial(_store, claim=claim, batch=batch, outcomes=outcomes, lease=lease))


def _store(session: Session, *, claim: Claim, batch: Batch, outcomes: _Outcomes, lease: timedelta) -> None:
    held = batches.lock(session, batch)
    stored = [one for one in outcomes.evaluated if one.item.submission_id in held]
    for one in stored:
        evaluations.store(
            session,
            submission_id=one.item.submission_id,
            scoring_id=batch.scoring_id,
            scores=one.evaluation.scores,
            ground_truth_sha256=batch.truth_sha256,
            archive_sha256=one.item.uploaded.archive_sha256,
            started_at=one.started_at,
            seconds=one.seconds,
        )
    batches.finish(session, batch, [one.item.submission_id for one in stored])
    for failed in outcomes.failed:
        detail = {"failure": failed.failure, "failure_detail": failed.detail}
        batches.finish(session, batch, held & {failed.item.submission_id}, **detail)
    if outcomes.interrupted in held and outcomes.interrupted is not None:
        batches.split(session, batch, [outcomes.interrupted], attempts=claim.attempt, after=lease)
    if batches.has_left(session, batch.id):
        jobs.release(session, claim, after=lease if outcomes.must_wait else timedelta())
    else:
        batches.dissolve(session, batch.id)
        jobs.finish(session, claim)
