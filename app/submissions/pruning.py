"""Removing archives, and columns read from them, that nothing needs any more, and what killed processes left.

Only who may write the archives can prune: the web process, and `vocboard admin prune` beside it. An upload of the same
content may be stored at the same moment, so that deciding and removing hold the archive's lock, as storing does.
"""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from vocboard.app.audit import service as audit
from vocboard.app.database import Database, lock_for_transaction, now
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.submissions.models import State, Submission

_BATCH = 500  # archives looked up at once

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was removed.

    Attributes:
        withdrawn: archives of which all submissions were withdrawn long ago.
        unknown: archives without any submission, set aside.
        abandoned: files that killed processes had left, and those set aside long ago.
        brought_back: archives that had been set aside, and are needed after all.
    """

    withdrawn: int
    unknown: int
    abandoned: int
    brought_back: int


def hold_archive(session: Session, sha256: str) -> None:
    """Hold an archive to the end of the transaction: it is neither stored nor removed by anyone else meanwhile."""
    lock_for_transaction(session, f"archive {sha256}")


def prune(database: Database, store: ArchiveStore, *, withdrawn_kept_for: timedelta) -> Pruned:
    """Remove the archives that nothing needs; safe beside uploads, evaluations and other processes that prune.

    Args:
        withdrawn_kept_for: how long the archive of a withdrawn submission stays.
    """
    withdrawn_before = now() - withdrawn_kept_for
    withdrawn = unknown = brought_back = 0
    for batch in _batches(store.stored()):
        with database.reading() as session:
            candidates = set(batch) - _needed(session, batch, withdrawn_before)
        for sha256 in sorted(candidates):
            with database.writing() as session:
                hold_archive(session, sha256)
                if _needed(session, [sha256], withdrawn_before):
                    continue
                is_of = or_(Submission.archive_sha256 == sha256, Submission.columns_sha256 == sha256)
                known = session.scalars(select(Submission).where(is_of)).all()
                if known:
                    for submission in known:
                        if submission.archive_sha256 != sha256:
                            continue  # its columns; the archive leaves for the same reason
                        audit.record(session, actor=None, action="submission.remove_archive", subject=submission)
                    store.remove(sha256)
                    withdrawn += 1
                else:
                    store.set_aside(sha256)
                    unknown += 1
    for sha256 in store.aside():
        with database.writing() as session:
            hold_archive(session, sha256)
            if _needed(session, [sha256], withdrawn_before):
                brought_back += store.bring_back(sha256)
    pruned = Pruned(withdrawn, unknown, store.remove_abandoned(), brought_back)
    if any((pruned.withdrawn, pruned.unknown, pruned.abandoned, pruned.brought_back)):
        _log.info("%s", pruned)
    return pruned


def _needed(session: Session, names: Iterable[str], withdrawn_before: datetime) -> set[str]:
    is_needed = or_(Submission.state != State.WITHDRAWN, Submission.finished_at > withdrawn_before)
    names = list(names)
    columns = (Submission.archive_sha256, Submission.columns_sha256)
    queries = (select(column).where(column.in_(names), is_needed) for column in columns)
    return {name for query in queries for name in session.scalars(query) if name is not None}


def _batches(names: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(names, _BATCH)):
        yield batch
