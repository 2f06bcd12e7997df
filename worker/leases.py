"""Renews leases while a worker processes what it has claimed."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from vocboard.app.database import Database

RENEWALS_PER_LEASE = 3  # two renewals may fail before the lease expires

_log = logging.getLogger(__name__)


@contextmanager
def kept(database: Database, renew: Callable[[Session], bool], *, lease: timedelta, of: str) -> Iterator[None]:
    """Renew a claim's lease in a thread until the block ends or the claim is lost.

    Args:
        renew: renews the lease; False if it is no longer held.
        of: name of the claimed object, for the log.
    """
    done = threading.Event()

    def keep_renewing() -> None:
        while not done.wait(lease.total_seconds() / RENEWALS_PER_LEASE):
            try:
                with database.writing() as session:
                    is_held = renew(session)
            except SQLAlchemyError as error:  # the database may recover before the lease expires
                _log.warning("%s: could not renew the lease: %s", of, error)
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
