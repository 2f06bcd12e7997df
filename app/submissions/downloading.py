"""Downloading the archive of a submission."""

import logging
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain

from vocboard.app.accounts.models import User
from vocboard.app.database import Database, now
from vocboard.app.errors import ForbiddenError, ServiceError
from vocboard.app.storage.archives import CHUNK_BYTES, ArchiveStore, DamagedArchiveError
from vocboard.app.submissions import queries
from vocboard.app.submissions.models import State

NOT_STORED = "The archive of this submission is no longer stored."
_log = logging.getLogger(__name__)


class ArchiveGoneError(ServiceError):
    """The archive was deleted, as those of withdrawn submissions are after a while."""

    status, code, title = 410, "archive_gone", "No longer stored"


@dataclass(frozen=True, slots=True)
class Download:
    """An archive that is sent.

    Attributes:
        name: as it was uploaded.
        size: in bytes.
        link: where the client downloads it instead; see `ArchiveStore.link`.
        chunks: its content, which was verified. They can be read once.
    """

    name: str
    sha256: str
    size: int
    chunks: Iterator[bytes]
    link: str | None = None


def download(
    database: Database, store: ArchiveStore, *, submission_id: uuid.UUID, user: User, withdrawn_kept_for: timedelta
) -> Download:
    """Return the archive of a submission, for its owner and the challenge's organisers.

    Args:
        withdrawn_kept_for: how long archives of withdrawn submissions are kept. Whether the store has one for longer
            would tell that somebody else has submitted the same.

    Raises:
        NotFoundError: the user may not see the submission.
        ArchiveGoneError: its archive is no longer stored, or damaged, or was not imported with it.
        ForbiddenError: the user neither owns it nor organises its challenge.
    """
    with database.reading() as session:
        submission = queries.get_for(session, submission_id, user)
        if not queries.access_of(session, submission, user).is_managed:
            raise ForbiddenError("Only the owner of a submission and the challenge's organisers can download it.")
        if not submission.has_archive:
            raise ArchiveGoneError("The archive of this submission was not imported with its challenge.")
        if submission.state is State.WITHDRAWN and (submission.finished_at or now()) <= now() - withdrawn_kept_for:
            raise ArchiveGoneError(NOT_STORED)
        name, sha256, size = submission.archive_name, submission.archive_sha256, submission.archive_bytes
    chunks = _chunks(store, sha256)
    try:
        if link := store.link(sha256, name):
            return Download(name, sha256, size, iter(()), link)
        first = next(chunks, b"")
    except (FileNotFoundError, DamagedArchiveError) as error:
        if isinstance(error, DamagedArchiveError):
            _log.error("submission %s: %s", submission_id, error)
        raise ArchiveGoneError(NOT_STORED) from error
    return Download(name, sha256, size, chain((first,), chunks))


def _chunks(store: ArchiveStore, sha256: str) -> Iterator[bytes]:
    with store.open(sha256) as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
