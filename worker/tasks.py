"""The worker's tasks: thin, and each safe to repeat."""

import time
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from celery import Celery

from vocboard.app.database import Database
from vocboard.app.messaging.broker import EVALUATE_NEXT, IMPORT_GROUND_TRUTH, RESCORE, SEND_MAIL, SWEEP
from vocboard.app.messaging.mail import delivery
from vocboard.app.messaging.mail.sending import send_due
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.storage.stores import archive_store
from vocboard.worker import ground_truth_import, recovery, rescoring
from vocboard.worker.evaluation import evaluate_next

# For so long one task starts evaluations: small ones without a task each, and each has its time limit but for this.
TURN = timedelta(seconds=1)


@dataclass
class Process:
    """What one worker process keeps open. Made when first used, hence after the fork."""

    settings: Settings

    @cached_property
    def database(self) -> Database:
        """Its connections to the database."""
        return Database(self.settings.database)

    @cached_property
    def store(self) -> ArchiveStore:
        """The submissions' archives."""
        return archive_store(self.settings)


def register(application: Celery, settings: Settings) -> None:
    """Give a Celery application its tasks. When one ends and more is due, the dispatcher has handed out the next."""
    process = Process(settings)

    def evaluate() -> None:
        """Evaluate submissions until none waits or the turn is over, so that other tasks have theirs."""
        turn_ends = time.monotonic() + TURN.total_seconds()
        while evaluate_next(process.database, process.store, settings) and time.monotonic() < turn_ends:
            pass

    def rescore() -> None:
        """Do some of what re-scores wait for, until the turn is over."""
        turn_ends = time.monotonic() + TURN.total_seconds()
        while time.monotonic() < turn_ends:
            if not rescoring.rescore_next(process.database, process.store, settings, until=turn_ends):
                break

    def import_ground_truth() -> None:
        """Import one uploaded ground truth."""
        ground_truth_import.import_next(process.database, settings)

    def sweep() -> None:
        """Recover what was lost."""
        recovery.sweep(process.database, settings)

    def send_mail() -> None:
        """Send what is due in the outbox: in the embedded set-up, which has no worker for that alone."""
        send_due(process.database, delivery.sender(settings))

    application.task(send_mail, name=SEND_MAIL)
    application.task(evaluate, name=EVALUATE_NEXT)
    application.task(rescore, name=RESCORE)
    application.task(import_ground_truth, name=IMPORT_GROUND_TRUTH)
    application.task(sweep, name=SWEEP)
