"""Holding on to what a worker has claimed, for as long as it works on it."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from vocboard.app.database import Database

RENEWALS_PER_LEASE = 3  # two may fail before the work is given to another worker

_log = logging.getLogger(__name__)


@contextmanager
def kept(database: Database, renew: Callable[[Session], bool], *, lease: timedelta, of: str) -> Iterator[None]:
    """Renew a claim's lease from a thread of its own until the block ends, or the hold is lost.

    Args:
        renew: prolongs the lease; False if it is no longer held.
        of: what is held, for the log.
    """
    done = threading.Event()

    def keep_renewing() -> None:
        while not done.wait(lease.total_seconds() / RENEWALS_PER_LEASE):
            try:
                with database.writing() as session:
                    is_held = renew(session)
            except SQLAlchemyError as error:  # the database may be back before the lease ends
                _log.warning("%s: the lease could not be renewed: %s", of, error)
                continue
            if not is_held:
                return

    thread = threading.Thread(target=keep_renewing, name=f"lease of {of}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
