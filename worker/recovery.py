"""The periodic sweep, which recovers from dead workers, and finds what is out of date."""

import logging

from vocboard.app.database import Database
from vocboard.app.evaluations import exact_copies
from vocboard.app.leaderboards import freezing
from vocboard.app.settings import Settings
from vocboard.app.statistics import removal, sequence_queue
from vocboard.app.submissions import queue
from vocboard.app.workers import heartbeats
from vocboard.worker import ground_truth_import

_log = logging.getLogger(__name__)


def sweep(database: Database, settings: Settings) -> None:
    """Return submissions of dead workers to the queue, and clean up."""
    with database.writing() as session:
        released = queue.release_expired(session, attempts=settings.evaluation_attempts)
    # Each in its own transaction: one would lock submissions before leaderboards, see `app.submissions.locking`.
    for step in (
        heartbeats.remove_old,
        exact_copies.synchronise,
        removal.remove_unneeded,
        sequence_queue.mark_changed,
        freezing.freeze_all_due,
    ):
        with database.writing() as session:
            step(session)
    ground_truth_import.sweep(database, settings)
    if released.returned or released.given_up:
        _log.warning("leases expired: %d submissions queued again, %d failed", released.returned, released.given_up)
