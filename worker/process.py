"""The resources of a worker process."""

import logging
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.orm import Session

from vocboard.app.database import Database
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.app.jobs.service import Claim
from vocboard.app.messaging import delivery
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.storage.stores import archive_store

PAUSE_SECONDS = 0.5  # before a result is stored again

_log = logging.getLogger(__name__)


class MoreUrgentError(Exception):
    """A more urgent job is due, or the turn is over: the job is to be released."""


class UnreadableTruthError(OSError):
    """Ground truth of this server cannot be read now: the job waits for the length of a lease, as if not claimed."""


@dataclass
class Process:
    """The resources of a process, created on first use, which is after the fork."""

    settings: Settings
    kinds: Collection[Kind] = tuple(Kind)

    @cached_property
    def database(self) -> Database:
        """The database connections."""
        return Database(self.settings.database)

    @cached_property
    def store(self) -> ArchiveStore:
        """The archive store."""
        return archive_store(self.settings)

    @cached_property
    def send_mail(self) -> delivery.Send:
        """What delivers a message."""
        return delivery.sender(self.settings)

    def must_give_way(self, claim: Claim) -> bool:
        """Whether a more urgent job is due that this process can do."""
        with self.database.reading_autocommit() as session:
            return jobs.must_give_way(session, claim, self.kinds)

    def store_result(self, transaction: Callable[[Session], None]) -> None:
        """Execute a transaction, and retry it for the length of a lease while the database is unavailable.

        If the connection is lost during the commit, the outcome is unknown, so the transaction must be idempotent.
        Transactions that end a claim are, because they check that it is still held.

        Raises:
            OperationalError, InterfaceError: the database was unavailable for too long.
        """
        deadline = time.monotonic() + self.settings.lease.total_seconds()
        while True:
            try:
                with self.database.writing() as session:
                    return transaction(session)
            except (OperationalError, InterfaceError) as error:
                if time.monotonic() > deadline:
                    raise
                _log.warning("could not store a result; retrying: %s", error.orig)
                time.sleep(PAUSE_SECONDS)
