"""Evaluates queued submissions: claim, evaluate, store."""

import logging
import time
import uuid
from dataclasses import dataclass
from functools import partial
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from sqlalchemy import Row, bindparam, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from vocboard.app.challenges.editions import edition_from
from vocboard.app.challenges.models import Challenge, ChallengePhase, GroundTruthVersion, Scoring
from vocboard.app.challenges.phases import on_image_set
from vocboard.app.database import now
from vocboard.app.evaluations import service as evaluations
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.service import Claim, LostClaimError
from vocboard.app.leaderboards import freezing
from vocboard.app.participating.publishing import publish_if_promised
from vocboard.app.submissions import queue
from vocboard.app.submissions.models import FILES_ONLY, Submission, Uploaded
from vocboard.evaluator.editions import Edition
from vocboard.worker import ground_truth_files
from vocboard.worker.columns import evaluate
from vocboard.worker.failure_reasons import DISK_IS_FULL, technical_reason
from vocboard.worker.process import Process
from vocboard.worker.stored_columns import OutdatedArchiveError, UnscorableError

RETURNED = "This submission does not count against your quota."
GIVEN_BACK = "Your submission was not the cause and does not count against your quota. The error has been logged."
TOOK_TOO_LONG = f"The evaluation took longer than the server allows. {GIVEN_BACK}"
TOOK_TOO_MUCH_MEMORY = f"The evaluation needed more memory than the server allows. {GIVEN_BACK}"
TOOK_TOO_MUCH_SPACE = f"The evaluation needed more disk space than the server has for it. {GIVEN_BACK}"
WENT_WRONG = f"The evaluation failed on the server. {GIVEN_BACK}"

_log = logging.getLogger(__name__)

# Built once: building them takes as long as executing them.
_OF_SUBMISSION = Submission.id == bindparam("submission_id")
_WORK_QUERY = (
    select(
        Submission,
        Challenge.edition,
        Challenge.edition_file,
        ChallengePhase.image_set,
        Scoring.id,
        GroundTruthVersion.sha256,
    )
    .join(Challenge, Challenge.id == Submission.challenge_id)
    .join(ChallengePhase, ChallengePhase.id == Submission.phase_id)
    .join(Scoring, Scoring.id == ChallengePhase.current_scoring_id)
    .join(GroundTruthVersion, GroundTruthVersion.id == Scoring.ground_truth_version_id)
    .where(_OF_SUBMISSION)
    .options(FILES_ONLY)
)
_LOCKING_QUERY = (
    select(Submission.challenge_id, Submission.publish_when_scored)
    .join(Challenge, Challenge.id == Submission.challenge_id)
    .where(_OF_SUBMISSION)
    .with_for_update(of=Challenge, read=True)
)
_CURRENT_SCORING_QUERY = (
    select(ChallengePhase.current_scoring_id)
    .join(Submission, Submission.phase_id == ChallengePhase.id)
    .where(_OF_SUBMISSION)
)


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


def run(process: Process, claim: Claim) -> None:
    """Evaluate a submission.

    If the worker dies, or loses its disk or database, another one evaluates it later. Any other error would happen
    again: the submission fails and does not count against the quota.

    Raises:
        OSError, SQLAlchemyError: files (until the last attempt) or the database are unavailable.
        LostClaimError: it was withdrawn, or claimed by another worker.
    """
    with process.database.writing(durable=False) as session:
        if not queue.begin(session, claim):
            jobs.finish(session, claim)
            return
        found = _find_work(session, claim)
    fail = partial(_fail, process, claim)
    try:
        _evaluate(process, claim, _work(found))
    except (SQLAlchemyError, LostClaimError):
        raise
    except OSError as error:
        if claim.attempt < process.settings.evaluation_attempts:  # another worker may have more space
            raise
        fail(TOOK_TOO_MUCH_SPACE if error.errno in DISK_IS_FULL else WENT_WRONG, error)
    except SoftTimeLimitExceeded as error:
        fail(TOOK_TOO_LONG, error)
    except MemoryError as error:
        fail(TOOK_TOO_MUCH_MEMORY, error)
    except OutdatedArchiveError as error:
        fail(f"{error.for_owner} {RETURNED}", error)
    except Exception as error:
        fail(WENT_WRONG, error)


def give_up(process: Process, claim: Claim) -> None:
    """Fail a submission whose evaluation has stopped workers too often."""
    with process.database.writing() as session:
        queue.give_up(session, claim)


def _evaluate(process: Process, claim: Claim, work: Work) -> None:
    started_at, started = now(), time.monotonic()
    try:
        truth = ground_truth_files.load(process.settings, work.truth_sha256)
    except OSError as error:
        _log.error("submission %s waits: the ground truth cannot be read: %s", claim.key, error)  # no traceback
        with process.database.writing() as session:
            queue.put_back(session, claim, after=process.settings.lease)
        return
    evaluation = evaluate(work.uploaded, process, work.edition, truth)
    if evaluation.unavailable:
        raise UnscorableError(f"the ground truth has nothing on {', '.join(evaluation.unavailable)}")
    seconds = time.monotonic() - started

    def store(session: Session) -> None:
        is_scored, is_promised = _finish(session, claim, work)
        if is_scored:
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
        if is_promised:
            publish_if_promised(session, work.submission_id)

    process.store_result(store)
    _log.info("submission %s: evaluated in %.1f s", work.submission_id, seconds)


def _find_work(session: Session, claim: Claim) -> Row[*tuple[Any, ...]] | None:
    """Return the row for `_work`; errors in it must not roll back the claim."""
    return session.execute(_WORK_QUERY, {"submission_id": claim.key}).one_or_none()


def _work(found: Row[*tuple[Any, ...]] | None) -> Work:
    if found is None:
        raise UnscorableError("its challenge has no scoring")
    submission, name, file, image_set, scoring_id, truth = found
    if truth is None:
        raise UnscorableError(f"scoring {scoring_id} is against a ground truth that has not been imported")
    edition = on_image_set(edition_from(name, file), image_set)
    return Work(submission.id, submission.uploaded, edition, scoring_id, truth)


def _finish(session: Session, claim: Claim, work: Work) -> tuple[bool, bool]:
    """Make the submission scored, unless its phase has another ground truth now.

    Returns:
        Whether it is scored, and whether its owner has asked for it to be published then.
    """
    given = {"submission_id": work.submission_id}
    challenge_id, is_promised = session.execute(_LOCKING_QUERY, given).one()
    if is_promised:  # which an owner can take back until then, but not ask for again
        freezing.lock_frozen(session, challenge_id)  # before the submission
    # Read only now: a statement that waits for a lock reads other rows as they were before it waited.
    if session.scalar(_CURRENT_SCORING_QUERY, given) != work.scoring_id:
        queue.put_back(session, claim)  # the challenge was switched to another ground truth in the meantime
        return False, False
    queue.finish(session, claim)
    return True, is_promised


def _fail(process: Process, claim: Claim, failure: str, error: BaseException) -> None:
    _log.exception("submission %s: attempt %d failed", claim.key, claim.attempt)
    detail = technical_reason(error)
    process.store_result(lambda session: queue.fail(session, claim, failure=failure, detail=detail))
