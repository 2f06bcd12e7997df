"""Executes re-scores: evaluates submissions again in batches, reports, and switches to the new results."""

import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from celery.exceptions import SoftTimeLimitExceeded

from vocboard.app.challenges.editions import edition_from
from vocboard.app.challenges.phases import on_image_set
from vocboard.app.database import Database, now
from vocboard.app.evaluations import service as evaluations
from vocboard.app.rescores import batches, queue, switch
from vocboard.app.rescores.batches import BatchClaim, Item
from vocboard.app.rescores.models import Rescore, RescoreState
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.submissions import queue as live_queue
from vocboard.evaluator import VERSION
from vocboard.evaluator.scoring import Evaluation
from vocboard.worker import ground_truth_store, leases
from vocboard.worker.columns import OutdatedArchiveError, UnscorableError, Uploaded, evaluate
from vocboard.worker.failure_reasons import technical_reason
from vocboard.worker.persistence import persistently

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
        must_wait: the ground truth cannot be read.
    """

    evaluated: list[_Evaluated] = field(default_factory=list)
    failed: list[_Failed] = field(default_factory=list)
    interrupted: list[uuid.UUID] = field(
        default_factory=list
    )  # keep their lease, so that they are not retried immediately
    must_wait: bool = False


def rescore_next(database: Database, store: ArchiveStore, settings: Settings, *, until: float) -> bool:
    """Do some work of re-scores; return whether there was any.

    Args:
        until: `time.monotonic` at which to stop after the current submission.

    Raises:
        OSError, SQLAlchemyError: files or the database are unavailable. Claimed submissions are claimed again when
        their lease has expired.
    """
    with database.reading_autocommit() as session:
        found = [(one.id, queue.needs_step(session, one, VERSION)) for one in queue.workable(session, VERSION)]
    for rescore_id, needs_step in found:
        if needs_step and _step(database, rescore_id):
            return True
        with database.writing() as session:
            rescore = session.get_one(Rescore, rescore_id)
            if rescore.scoring_id is None or rescore.evaluator_version != VERSION:
                continue
            if given_up := batches.give_up(session, rescore_id, attempts=settings.evaluation_attempts):
                _log.warning("re-score %s: leases expired, %d submissions failed", rescore_id, given_up)
                return True
            claim = batches.claim(session, rescore, rescore.scoring_id, lease=settings.lease)
            is_urgent = rescore.apply_requested_at is not None
        if claim is not None:
            _evaluate_batch(database, store, settings, claim, until=until, is_urgent=is_urgent)
            return True
    return False


def _step(database: Database, rescore_id: uuid.UUID) -> bool:
    """Execute the next step (start, add late submissions, report or apply); return whether there was one."""
    with database.writing() as session:
        rescore = queue.lock_open(session, rescore_id)
        if rescore is None or not queue.needs_step(session, rescore, VERSION):
            return False
        if rescore.scoring_id is None and switch.fail_if_unusable(session, rescore):
            done = _state_of(rescore)
        elif rescore.scoring_id is None or rescore.evaluator_version != VERSION:
            queue.begin(session, rescore, VERSION)
            done = "begun"
        elif queue.has_late(session, rescore):
            queue.add_late(session, rescore)
            done = "extended by new submissions"
        elif rescore.apply_requested_at is not None and rescore.state is RescoreState.READY:
            if not switch.apply(session, rescore):
                return True
            done = _state_of(rescore)
        else:
            switch.make_ready(session, rescore)
            done = "reported"
    _log.info("re-score %s: %s", rescore_id, done)
    return True


def _state_of(rescore: Rescore) -> str:
    return rescore.state.value


def _evaluate_batch(
    database: Database, store: ArchiveStore, settings: Settings, claim: BatchClaim, *, until: float, is_urgent: bool
) -> None:
    renew = partial(batches.renew, claim=claim, lease=settings.lease)
    with (
        leases.renewing_lease(database, renew, lease=settings.lease, of=f"a batch of re-score {claim.rescore_id}"),
        _stored_at_the_end(database, settings, claim) as outcomes,
    ):
        for item in claim.items:
            _evaluate_one(store, settings, claim, item, outcomes)
            if outcomes.must_wait or time.monotonic() > until or (not is_urgent and _is_live_waiting(database)):
                return


def _evaluate_one(store: ArchiveStore, settings: Settings, claim: BatchClaim, item: Item, outcomes: _Outcomes) -> None:
    started_at, started = now(), time.monotonic()
    try:
        try:
            truth = ground_truth_store.load(ground_truth_store.path_of(settings, claim.truth_sha256))
        except OSError as error:
            _log.error("re-score %s waits: the ground truth cannot be read: %s", claim.rescore_id, error)
            outcomes.must_wait = True
            return
        evaluation = evaluate(
            Uploaded(
                item.archive_sha256,
                item.columns_sha256,
                item.columns_reader,
                item.segmentation_classes,
                item.has_archive,
            ),
            store,
            on_image_set(edition_from(claim.edition, claim.edition_file), claim.image_set),
            truth,
            memory_limit_bytes=settings.evaluation_memory_limit_bytes,
        )
        if unavailable := evaluation.unavailable:
            raise UnscorableError(f"the ground truth has nothing on {', '.join(unavailable)}")
    except OSError:
        outcomes.interrupted.append(item.submission_id)
        raise
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
def _stored_at_the_end(database: Database, settings: Settings, claim: BatchClaim) -> Iterator[_Outcomes]:
    """Store finished evaluations, even if an error stops the batch; the rest can be claimed again."""
    outcomes = _Outcomes()
    try:
        yield outcomes
    except SoftTimeLimitExceeded:
        _log.warning("re-score %s: a submission took too long", claim.rescore_id)
    finally:
        persistently(partial(_store, database, claim, outcomes), for_at_most=settings.lease)


def _store(database: Database, claim: BatchClaim, outcomes: _Outcomes) -> None:
    with database.writing() as session:
        held = batches.still_held(session, claim)
        if not held:
            _log.info("re-score %s: discarded or claimed by another worker; nothing is stored", claim.rescore_id)
            return
        stored = [one for one in outcomes.evaluated if one.item.submission_id in held]
        for one in stored:
            evaluations.store(
                session,
                submission_id=one.item.submission_id,
                scoring_id=claim.scoring_id,
                scores=one.evaluation.scores,
                ground_truth_sha256=claim.truth_sha256,
                archive_sha256=one.item.archive_sha256,
                started_at=one.started_at,
                seconds=one.seconds,
            )
        batches.finish(session, claim, [one.item.submission_id for one in stored])
        for failed in outcomes.failed:
            batches.fail(session, claim, failed.item.submission_id, failure=failed.failure, detail=failed.detail)
        if outcomes.must_wait:
            batches.hold(session, claim)
        else:
            batches.release(session, claim, but=outcomes.interrupted)


def _is_live_waiting(database: Database) -> bool:
    with database.reading_autocommit() as session:
        return live_queue.waiting(session) > 0
