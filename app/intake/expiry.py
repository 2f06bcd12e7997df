"""Removes expired resumable uploads, and files that no upload has."""

import logging

from vocboard.app.database import Database
from vocboard.app.intake import resumable
from vocboard.app.storage.archives import ArchiveStore

_log = logging.getLogger(__name__)


def remove_expired(database: Database, store: ArchiveStore) -> int:
    """Remove what nobody can continue or submit any more; return the number of removed files.

    Safe during uploads, and in several processes at once: a file is only created for an upload that is there.
    """
    with database.writing() as session:
        resumable.remove_expired(session)
    ids = list(store.unfinished.ids())
    with database.reading() as session:
        existing = resumable.existing(session, ids)
    unused = [upload_id for upload_id in ids if upload_id not in existing]
    for upload_id in unused:
        store.unfinished.remove(upload_id)
    if unused:
        _log.info("removed the files of %d resumable uploads", len(unused))
    return len(unused)
