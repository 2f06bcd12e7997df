"""Storing what has been worked out, although the database may be away for a moment."""

import logging
import time
from collections.abc import Callable
from datetime import timedelta

from sqlalchemy.exc import InterfaceError, OperationalError

PAUSE_SECONDS = 0.5

_log = logging.getLogger(__name__)


def persistently(transaction: Callable[[], None], *, for_at_most: timedelta) -> None:
    """Carry out a transaction, again and again while the database cannot be reached.

    The connection may break while the transaction is committed, so that nobody knows whether it was: it has to be one
    that changes nothing the second time. Those that end a claim are, since they ask whether it is still held.

    Raises:
        OperationalError, InterfaceError: the database was away for longer.
    """
    deadline = time.monotonic() + for_at_most.total_seconds()
    while True:
        try:
            return transaction()
        except (OperationalError, InterfaceError) as error:
            if time.monotonic() > deadline:
                raise
            _log.warning("could not store a result yet: %s", error.orig)
            time.sleep(PAUSE_SECONDS)
