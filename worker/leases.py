"""Claims work, and renews the lease while a worker processes it."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Protocol, TypeVar

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from vocboard.app.database import Database
from vocboard.app.settings import Settings
from vocboard.evaluator import VERSION

RENEWALS_PER_LEASE = 3  # two renewals may fail before the lease expires

_log = logging.getLogger(__name__)


ClaimT = TypeVar("ClaimT")


class ClaimedQueue(Protocol[ClaimT]):
    """A work queue: a module of the app with these functions."""

    def due(self, session: Session, evaluator_version: str) -> int:
        """Return how much work there is now."""

    def claim(self, session: Session, *, lease: timedelta, attempts: int) -> ClaimT | None:
        """Claim some of it; None if none is waiting."""

    def renew(self, session: Session, claim: ClaimT, *, lease: timedelta) -> bool:
        """Renew a lease; False if it is no longer held."""


@contextmanager
def claimed(
    database: Database, queue: ClaimedQueue[ClaimT], settings: Settings, *, name: Callable[[ClaimT], str]
) -> Iterator[ClaimT | None]:
    """Claim what is due next, and keep the claim until the block ends; None if nothing is due.

    Args:
        name: names what is claimed, for the log.
    """
    with database.writing(durable=False) as session:
        is_due = queue.due(session, VERSION) > 0
        claim = queue.claim(session, lease=settings.lease, attempts=settings.evaluation_attempts) if is_due else None
    if claim is None:
        yield None
        return
    with renewing_lease(
        database, partial(queue.renew, claim=claim, lease=settings.lease), lease=settings.lease, of=name(claim)
    ):
        yield claim


@contextmanager
def renewing_lease(
    database: Database, renew: Callable[[Session], bool], *, lease: timedelta, of: str
) -> Iterator[None]:
    """Renew a claim's lease in a thread until the block ends or the claim is lost.

    Args:
        renew: renews the lease; False if it is no longer held.
        of: name of the claimed object, for the log.
    """
    done = threading.Event()

    def keep_renewing() -> None:
        while not done.wait(lease.total_seconds() / RENEWALS_PER_LEASE):
            try:
                with database.writing(durable=False) as session:
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
