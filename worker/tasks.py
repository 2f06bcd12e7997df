"""The worker's Celery tasks. All are idempotent."""

import time
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from celery import Celery

from vocboard.app.database import Database
from vocboard.app.messaging.broker import (
    COMPARE_SUBMISSIONS,
    DIAGNOSE_NEXT,
    EVALUATE_NEXT,
    IMPORT_GROUND_TRUTH,
    RESCORE,
    SEND_MAIL,
    SWEEP,
    UPDATE_STATISTICS,
)
from vocboard.app.messaging.mail import delivery
from vocboard.app.messaging.mail.sending import send_due
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.storage.stores import archive_store
from vocboard.worker import board_statistics, diagnoses, ground_truth_import, recovery, rescoring, sequences
from vocboard.worker.evaluation import evaluate_next

# How long one task starts new evaluations: this saves a task for each small one, and leaves each most of the time
# limit.
TURN = timedelta(seconds=1)
STATISTICS_TURN = timedelta(seconds=3)  # what they compute between turns has to be read again


@dataclass
class Process:
    """The resources of a worker process, created on first use, which is after the fork."""

    settings: Settings

    @cached_property
    def database(self) -> Database:
        """The database connections."""
        return Database(self.settings.database)

    @cached_property
    def store(self) -> ArchiveStore:
        """The archive store."""
        return archive_store(self.settings)


def register(application: Celery, settings: Settings) -> None:
    """Register the tasks with a Celery application."""
    process = Process(settings)

    def evaluate() -> None:
        """Evaluate submissions until none is queued or the task's time is over, so that other tasks can run."""
        turn_ends = time.monotonic() + TURN.total_seconds()
        while evaluate_next(process.database, process.store, settings) and time.monotonic() < turn_ends:
            pass

    def rescore() -> None:
        """Do some of what re-scores wait for, until the turn is over."""
        turn_ends = time.monotonic() + TURN.total_seconds()
        while time.monotonic() < turn_ends:
            if not rescoring.rescore_next(process.database, process.store, settings, until=turn_ends):
                break

    def update_statistics() -> None:
        """Keep statistics of leaderboards up to date, until the turn is over or more urgent work is waiting."""
        turn_ends = time.monotonic() + STATISTICS_TURN.total_seconds()
        while time.monotonic() < turn_ends:
            if not board_statistics.update_next(process.database, process.store, settings, until=turn_ends):
                break

    def diagnose() -> None:
        """Diagnose evaluations until none is waiting or the turn is over."""
        turn_ends = time.monotonic() + TURN.total_seconds()
        while diagnoses.diagnose_next(process.database, process.store, settings) and time.monotonic() < turn_ends:
            pass

    def compare_submissions() -> None:
        """Compare the submissions of each person, until the turn is over or more urgent work is waiting."""
        turn_ends = time.monotonic() + STATISTICS_TURN.total_seconds()
        while time.monotonic() < turn_ends:
            if not sequences.compare_next(process.database, process.store, settings, until=turn_ends):
                break

    def import_ground_truth() -> None:
        """Import ground truth versions one after the other, until none is waiting or the turn is over."""
        turn_ends = time.monotonic() + TURN.total_seconds()
        while ground_truth_import.import_next(process.database, settings) and time.monotonic() < turn_ends:
            pass

    def sweep() -> None:
        """Run the periodic sweep."""
        recovery.sweep(process.database, settings)

    def send_mail() -> None:
        """Send due messages from the outbox, in the embedded set-up, which has no separate mail worker."""
        send_due(process.database, delivery.sender(settings))

    application.task(send_mail, name=SEND_MAIL)
    application.task(evaluate, name=EVALUATE_NEXT)
    application.task(rescore, name=RESCORE)
    application.task(update_statistics, name=UPDATE_STATISTICS)
    application.task(diagnose, name=DIAGNOSE_NEXT)
    application.task(compare_submissions, name=COMPARE_SUBMISSIONS)
    application.task(import_ground_truth, name=IMPORT_GROUND_TRUTH)
    application.task(sweep, name=SWEEP)
