"""Holding on to a submission while it is evaluated."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from sqlalchemy.exc import SQLAlchemyError

from app.database import Database
from app.submissions import queue
from app.submissions.queue import Claim

RENEWALS_PER_LEASE = 3  # two may fail before the submission is given to another worker

_log = logging.getLogger(__name__)


@contextmanager
def kept(database: Database, claim: Claim, lease: timedelta) -> Iterator[None]:
    """Renew a claim's lease from a thread of its own until the block ends, or the hold is lost."""
    done = threading.Event()

    def renew() -> None:
        while not done.wait(lease.total_seconds() / RENEWALS_PER_LEASE):
            try:
                with database.writing() as session:
                    is_held = queue.renew(session, claim, lease=lease)
            except SQLAlchemyError as error:  # the database may be back before the lease ends
                _log.warning("submission %s: the lease could not be renewed: %s", claim.submission_id, error)
                continue
            if not is_held:
                return

    thread = threading.Thread(target=renew, name=f"lease of {claim.submission_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
