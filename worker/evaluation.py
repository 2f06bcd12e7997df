"""Evaluates queued submissions: claim, evaluate, store."""

import logging
import time
import uuid
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from sqlalchemy import Row, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from vocboard.app.challenges.editions import edition_from
from vocboard.app.challenges.models import Challenge, ChallengePhase, GroundTruthVersion, Scoring
from vocboard.app.challenges.phases import on_image_set
from vocboard.app.challenges.queries import current_scoring_of_submission, is_phase_of_submission
from vocboard.app.database import Database, now
from vocboard.app.evaluations import service as evaluations
from vocboard.app.leaderboards import freezing
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.submissions import queue
from vocboard.app.submissions.models import Submission
from vocboard.app.submissions.publishing import publish_if_promised
from vocboard.app.work_queues.state_queue import Claim
from vocboard.evaluator.editions import Edition
from vocboard.worker import ground_truth_store, leases
from vocboard.worker.columns import OutdatedArchiveError, UnscorableError, Uploaded, evaluate
from vocboard.worker.failure_reasons import technical_reason
from vocboard.worker.persistence import persistently

RETURNED = "This submission does not count against your quota."
GIVEN_BACK = "Your submission was not the cause and does not count against your quota. The error has been logged."
TOOK_TOO_LONG = f"The evaluation took longer than the server allows. {GIVEN_BACK}"
TOOK_TOO_MUCH_MEMORY = f"The evaluation needed more memory than the server allows. {GIVEN_BACK}"
WENT_WRONG = f"The evaluation failed on the server. {GIVEN_BACK}"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Work:
    """The data needed to evaluate a claimed submission.

    Attributes:
        scoring_id: the challenge's current scoring.
        truth_sha256: hash of its ground truth.
    """

    submission_id: uuid.UUID
    uploaded: Uploaded
    edition: Edition
    scoring_id: uuid.UUID
    truth_sha256: str


def evaluate_next(database: Database, store: ArchiveStore, settings: Settings) -> bool:
    """Evaluate the next submission; return whether there was one.

    If the worker dies, or loses its disk or database, the sweep recovers the submission. Any other error would happen
    again: the submission fails and does not count against the quota.

    Raises:
        OSError, SQLAlchemyError: files or the database are unavailable.
    """
    with database.writing(durable=False) as session:
        claim = queue.claim(session, lease=settings.lease)
        found = None if claim is None else _find_work(session, claim)
    if claim is None:
        return False
    renew = partial(queue.renew, claim=claim, lease=settings.lease)
    with leases.renewing_lease(database, renew, lease=settings.lease, of=f"submission {claim.id}"):
        try:
            _evaluate(database, store, settings, claim, _work(found))
        except (OSError, SQLAlchemyError):
            raise
        except SoftTimeLimitExceeded as error:
            _fail(database, claim, TOOK_TOO_LONG, error, lease=settings.lease)
        except MemoryError as error:
            _fail(database, claim, TOOK_TOO_MUCH_MEMORY, error, lease=settings.lease)
        except OutdatedArchiveError as error:
            _fail(database, claim, f"{error.for_owner} {RETURNED}", error, lease=settings.lease)
        except Exception as error:
            _fail(database, claim, WENT_WRONG, error, lease=settings.lease)
    return True


def _evaluate(database: Database, store: ArchiveStore, settings: Settings, claim: Claim, work: Work) -> None:
    started_at, started = now(), time.monotonic()
    try:
        truth = ground_truth_store.load(ground_truth_store.path_of(settings, work.truth_sha256))
    except OSError as error:
        _log.error("submission %s waits: the ground truth cannot be read: %s", claim.id, error)  # no traceback
        with database.writing() as session:
            queue.hold(session, claim)
        return
    evaluation = evaluate(
        work.uploaded,
        store,
        work.edition,
        truth,
        memory_limit_bytes=settings.evaluation_memory_limit_bytes,
    )
    if evaluation.unavailable:
        raise UnscorableError(f"the ground truth has nothing on {', '.join(evaluation.unavailable)}")
    seconds = time.monotonic() - started

    def store_result() -> None:
        with database.writing() as session:
            if _still_counts(session, claim, work):
                evaluations.store(
                    session,
                    submission_id=work.submission_id,
                    scoring_id=work.scoring_id,
                    scores=evaluation.scores,
                    ground_truth_sha256=work.truth_sha256,
                    archive_sha256=work.uploaded.archive_sha256,
                    started_at=started_at,
                    seconds=seconds,
                )
                publish_if_promised(session, work.submission_id)

    persistently(store_result, for_at_most=settings.lease)
    _log.info("submission %s: evaluated in %.1f s", work.submission_id, seconds)


def _find_work(session: Session, claim: Claim) -> Row[*tuple[Any, ...]] | None:
    """Return the row for `_work`; errors in it must not roll back the claim."""
    query = (
        select(
            Submission.id,
            Submission.archive_sha256,
            Submission.columns_sha256,
            Submission.columns_reader,
            Submission.segmentation_classes,
            Submission.has_archive,
            Challenge.edition,
            Challenge.edition_file,
            ChallengePhase.image_set,
            Scoring.id,
            GroundTruthVersion.sha256,
        )
        .join(Challenge, Challenge.id == Submission.challenge_id)
        .outerjoin(ChallengePhase, is_phase_of_submission())
        .join(Scoring, Scoring.id == current_scoring_of_submission())
        .join(GroundTruthVersion, GroundTruthVersion.id == Scoring.ground_truth_version_id)
        .where(Submission.id == claim.id)
    )
    return session.execute(query).one_or_none()


def _work(found: Row[*tuple[Any, ...]] | None) -> Work:
    if found is None:
        raise UnscorableError("its challenge has no scoring")
    submission_id, archive, columns, reader, declared, has_archive, *challenge, scoring_id, truth = found
    name, file, image_set = challenge
    if truth is None:
        raise UnscorableError(f"scoring {scoring_id} is against a ground truth that has not been imported")
    classes = None if declared is None else tuple(declared)
    uploaded = Uploaded(archive, columns, reader, classes, has_archive)
    edition = on_image_set(edition_from(name, file), image_set)
    return Work(submission_id, uploaded, edition, scoring_id, truth)


def _still_counts(session: Session, claim: Claim, work: Work) -> bool:
    """Make the submission scored, unless what was computed no longer counts."""
    query = (
        select(current_scoring_of_submission(), Submission.challenge_id, Submission.publish_when_scored)
        .select_from(Submission)
        .join(Challenge, Challenge.id == Submission.challenge_id)
        .outerjoin(ChallengePhase, is_phase_of_submission())
        .where(Submission.id == work.submission_id)
        .with_for_update(of=Challenge, read=True)
    )
    scoring_id, challenge_id, is_promised = session.execute(query).one()
    if is_promised:
        freezing.lock_frozen(session, challenge_id)  # before the submission
    if scoring_id != work.scoring_id:
        queue.put_back(session, claim)  # the challenge was switched to another ground truth in the meantime
        return False
    if not queue.finish(session, claim):
        _log.info("submission %s: withdrawn or claimed by another worker; nothing is stored", work.submission_id)
        return False
    return True


def _fail(database: Database, claim: Claim, failure: str, error: BaseException, *, lease: timedelta) -> None:
    _log.exception("submission %s: attempt %d failed", claim.id, claim.attempt)
    detail = technical_reason(error)

    def store_failure() -> None:
        with database.writing() as session:
            queue.fail(session, claim, failure=failure, detail=detail)

    persistently(store_failure, for_at_most=lease)
