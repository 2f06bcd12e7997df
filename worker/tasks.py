"""The worker's tasks: thin, and each safe to repeat."""

from dataclasses import dataclass
from functools import cached_property

from celery import Celery

from app.broker import EVALUATE_NEXT, IMPORT_GROUND_TRUTH, SWEEP
from app.database import Database
from app.settings import Settings
from app.storage import ArchiveStore
from app.submissions import queue
from worker import recovery, truth_import
from worker.evaluation import evaluate_next


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
        return ArchiveStore(self.settings.archives)


def register(application: Celery, settings: Settings) -> None:
    """Give a Celery application its tasks."""
    process = Process(settings)

    def evaluate() -> None:
        """Evaluate one submission; ring again if more wait."""
        if not evaluate_next(process.database, process.store, settings):
            return
        with process.database.reading() as session:
            more = queue.waiting(session) > 0
        if more:
            application.send_task(EVALUATE_NEXT)

    def import_ground_truth() -> None:
        """Import one uploaded ground truth; ring again, in case more wait."""
        if truth_import.import_next(process.database, settings):
            application.send_task(IMPORT_GROUND_TRUTH)

    def sweep() -> None:
        """Recover what was lost."""
        due = recovery.sweep(process.database, settings)
        for _ in range(due.evaluations):
            application.send_task(EVALUATE_NEXT)
        if due.ground_truth:
            application.send_task(IMPORT_GROUND_TRUTH)

    application.task(evaluate, name=EVALUATE_NEXT)
    application.task(import_ground_truth, name=IMPORT_GROUND_TRUTH)
    application.task(sweep, name=SWEEP)
