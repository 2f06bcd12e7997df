"""The work of each kind of job.

To add a kind of work, write a function, add a member to `Kind` and a line to `WORK`, and add the jobs (`jobs.add`) in
the transaction that makes the work due. The function ends the job in the transaction that stores its result. It may be
called again for the same job, if a worker dies.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.exc import SQLAlchemyError

from vocboard.app.database import Database
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.app.jobs.service import Claim, LostClaimError
from vocboard.app.logs import about
from vocboard.app.tracing import span
from vocboard.worker import (
    board_statistics,
    diagnoses,
    evaluation,
    ground_truth_import,
    mail,
    rescoring,
    sequences,
    showcase,
    sweep,
    webhooks,
)
from vocboard.worker.process import MoreUrgentError, Process, UnreadableTruthError

RENEWALS_PER_LEASE = 3  # two renewals may fail before the lease ends
# How long one task starts new jobs: this saves a task for each small one, and leaves each most of the time limit.
TURN = timedelta(seconds=1)

# What the key of a job is, for the log; others are in `Kind`.
_SUBJECTS = {Kind.EVALUATION: "submission", Kind.SHOWCASE: "submission"}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Work:
    """How a kind of job is done.

    Attributes:
        run: does the job. `MoreUrgentError` and `UnreadableTruthError` return it to the queue; after any other error,
            it is tried again when its lease has ended.
        give_up: ends a job that has stopped workers too often; None if it is tried for ever.
    """

    run: Callable[[Process, Claim], None]
    give_up: Callable[[Process, Claim], None] | None = None


WORK: Mapping[Kind, Work] = {
    Kind.SWEEP: Work(sweep.run),
    Kind.FREEZE: Work(sweep.freeze),
    Kind.MAIL: Work(mail.send),
    Kind.MAIL_SWEEP: Work(mail.sweep),
    Kind.IMPORT: Work(ground_truth_import.run, ground_truth_import.give_up),
    Kind.EVALUATION: Work(evaluation.run, evaluation.give_up),
    Kind.RESCORE: Work(rescoring.step),
    Kind.BATCH: Work(rescoring.evaluate_batch, rescoring.give_up),
    Kind.SHOWCASE: Work(showcase.run, showcase.give_up),
    Kind.STATISTICS: Work(board_statistics.run, board_statistics.give_up),
    Kind.DIAGNOSIS: Work(diagnoses.run, diagnoses.give_up),
    Kind.SEQUENCES: Work(sequences.run, sequences.give_up),
    Kind.WEBHOOK: Work(webhooks.deliver),
}


def work(process: Process) -> None:
    """Do jobs until none is due or the turn is over."""
    turn_ends = time.monotonic() + TURN.total_seconds()
    while work_next(process) and time.monotonic() < turn_ends:
        pass


def work_next(process: Process) -> bool:
    """Do the next job; return whether there was one.

    Raises:
        Exception: the job could not be done. It is due again when its lease has ended.
    """
    settings = process.settings
    with process.database.writing(durable=False) as session:
        claim = jobs.claim(session, process.kinds, lease=settings.lease)
    if claim is None:
        return False
    kind = WORK[claim.kind]
    subject = {_SUBJECTS.get(claim.kind, "key"): claim.key}
    with (
        about(job=claim.kind, person=claim.owner, **subject),
        span(claim.kind, {f"vocboard.{name}": str(value) for name, value in subject.items()}),
        _renewing(process.database, claim, lease=settings.lease),
    ):
        try:
            try:
                if kind.give_up is not None and claim.attempt > settings.evaluation_attempts:
                    _log.error("%s of %s: given up after %d attempts", claim.kind, claim.key, claim.attempt - 1)
                    kind.give_up(process, claim)
                else:
                    kind.run(process, claim)
            except MoreUrgentError:
                with process.database.writing() as session:
                    jobs.release(session, claim)
            except UnreadableTruthError as error:
                _log.error("%s of %s waits: the ground truth cannot be read: %s", claim.kind, claim.key, error)
                with process.database.writing() as session:
                    jobs.release(session, claim, after=settings.lease)
        except LostClaimError:
            _log.info("%s of %s: cancelled or claimed by another worker; nothing is stored", claim.kind, claim.key)
    return True


@contextmanager
def _renewing(database: Database, claim: Claim, *, lease: timedelta) -> Iterator[None]:
    """Renew the lease in a thread until the block ends or the claim is lost."""
    done = threading.Event()

    def keep_renewing() -> None:
        while not done.wait(lease.total_seconds() / RENEWALS_PER_LEASE):
            try:
                with database.writing(durable=False) as session:
                    is_held = jobs.renew(session, claim, lease=lease)
            except SQLAlchemyError as error:  # the database may recover before the lease ends
                _log.warning("%s of %s: could not renew the lease: %s", claim.kind, claim.key, error)
                continue
            if not is_held:
                return

    thread = threading.Thread(target=keep_renewing, name=f"lease of {claim.kind} {claim.key}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
