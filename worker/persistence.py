"""Retries transactions while the database is temporarily unavailable."""

import logging
import time
from collections.abc import Callable
from datetime import timedelta

from sqlalchemy.exc import InterfaceError, OperationalError

PAUSE_SECONDS = 0.5

_log = logging.getLogger(__name__)


def persistently(transaction: Callable[[], None], *, for_at_most: timedelta) -> None:
    """Execute a transaction, and retry it while the database is unavailable.

    If the connection is lost during the commit, the outcome is unknown, so the transaction must be idempotent.
    Transactions that end a claim are, because they check that it is still held.

    Raises:
        OperationalError, InterfaceError: the database was unavailable for too long.
    """
    deadline = time.monotonic() + for_at_most.total_seconds()
    while True:
        try:
            return transaction()
        except (OperationalError, InterfaceError) as error:
            if time.monotonic() > deadline:
                raise
            _log.warning("could not store a result; retrying: %s", error.orig)
            time.sleep(PAUSE_SECONDS)
