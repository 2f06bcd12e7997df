"""The periodic sweep: what dead workers left, and what nobody rang for."""

import logging
from dataclasses import dataclass

from app.challenges import truth_queue
from app.database import Database
from app.settings import Settings
from app.submissions import queue
from worker import truth_import

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Due:
    """What to ring for.

    Attributes:
        evaluations: how many bells; each process that answers one rings again while submissions wait.
        ground_truth: whether an upload waits for its import, or is being imported: that may have died.
    """

    evaluations: int
    ground_truth: bool


def sweep(database: Database, settings: Settings) -> Due:
    """Return to the queue, and clean up, what dead workers left; say what there is to ring for."""
    with database.writing() as session:
        released = queue.release_expired(session, attempts=settings.evaluation_attempts)
        waiting, running = queue.waiting(session), queue.running(session)
        has_upload = bool(truth_queue.waiting_versions(session))
    truth_import.sweep(database, settings)
    if released.queued or released.failed:
        _log.warning("workers went silent: %d submissions queued again, %d failed", released.queued, released.failed)
    # Running ones will ring by themselves. More bells than processes would only pile up.
    idle = max(settings.worker_processes - running, 0)
    return Due(evaluations=min(waiting, idle), ground_truth=has_upload)
