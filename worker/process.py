"""The resources of a worker process."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from vocboard.app.database import Database
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind
from vocboard.app.jobs.service import Claim
from vocboard.app.messaging import delivery
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.storage.stores import archive_store


class MoreUrgentError(Exception):
    """A more urgent job is due, or the turn is over: the job is to be released."""


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
