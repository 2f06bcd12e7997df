"""Removes unused archives, columns and files of challenges, files of killed processes, and what has expired.

Only processes that can write archives can prune: the web process and `vocboard admin prune`. An upload with the same
content may be stored at the same time, so pruning and storing take a lock per archive.
"""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from sqlalchemy import and_, delete, or_, select, true
from sqlalchemy.orm import InstrumentedAttribute, Session

from vocboard.app.accounts.models import EmailLink, WebSession
from vocboard.app.audit import service as audit
from vocboard.app.challenges.models import ChallengeFile
from vocboard.app.database import Database, lock_for_transaction, now
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.submissions import idempotency
from vocboard.app.submissions.models import State, Submission
from vocboard.app.teams.models import TeamInvitation

STORING = timedelta(minutes=10)  # the longest that storing an archive may last, on a slow connection
_BATCH = 500  # archives per query
_NEVER = datetime.fromtimestamp(0, UTC)  # nothing was withdrawn before this

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pruned:
    """The result of pruning.

    Attributes:
        withdrawn: archives whose submissions were all withdrawn long ago.
        unknown: archives without a submission or a file of a challenge, which were set aside.
        abandoned: partial files of killed processes, and files set aside long ago.
        restored: archives that were set aside but are needed.
    """

    withdrawn: int
    unknown: int
    abandoned: int
    restored: int


def lock_archives(session: Session, *hashes: str) -> None:
    """Lock archives, by their SHA-256, until the end of the transaction, so that nobody else stores or removes them."""
    lock_for_transaction(session, *(f"archive {sha256}" for sha256 in hashes), max_pause=STORING)


def prune(database: Database, store: ArchiveStore, *, withdrawn_kept_for: timedelta) -> Pruned:
    """Remove unused archives, and rows whose time is over (`app.accounts.privacy` says how long they are kept).

    Safe during uploads and evaluations, and in several processes at once.

    Args:
        withdrawn_kept_for: how long archives of withdrawn submissions are kept.
    """
    withdrawn_before = now() - withdrawn_kept_for
    withdrawn = unknown = restored = 0
    for batch in batches(store.stored()):
        with database.reading() as session:
            candidates = set(batch) - _needed(session, batch, withdrawn_before)
        for sha256 in sorted(candidates):
            with database.writing() as session:
                lock_archives(session, sha256)
                if _needed(session, [sha256], withdrawn_before):
                    continue
                is_of = and_(
                    or_(Submission.archive_sha256 == sha256, Submission.columns_sha256 == sha256),
                    Submission.has_archive,
                )
                known = session.scalars(select(Submission).where(is_of)).all()
                if known:
                    for submission in known:
                        if submission.archive_sha256 != sha256:
                            continue  # columns are removed for the same reason as their archive
                        audit.record(session, actor=None, action="submission.remove_archive", subject=submission)
                    store.remove(sha256)
                    withdrawn += 1
                else:
                    store.set_aside(sha256)
                    unknown += 1
    for sha256 in store.aside():
        with database.writing() as session:
            lock_archives(session, sha256)
            if _needed(session, [sha256], withdrawn_before):
                restored += store.restore(sha256)
    with database.writing() as session:
        idempotency.forget_expired(session)
        for table in (WebSession, EmailLink, TeamInvitation):
            session.execute(delete(table).where(table.expires_at <= now()))
    pruned = Pruned(withdrawn, unknown, store.remove_abandoned(), restored)
    if any((pruned.withdrawn, pruned.unknown, pruned.abandoned, pruned.restored)):
        _log.info("%s", pruned)
    return pruned


def remove_unneeded(database: Database, store: ArchiveStore, names: Iterable[str]) -> None:
    """Remove contents whose rows have just been removed, unless something else needs them.

    Args:
        names: their SHA-256.
    """
    for sha256 in names:
        with database.writing() as session:
            lock_archives(session, sha256)
            if not _needed(session, [sha256], _NEVER):
                store.remove(sha256)


def needed_contents(session: Session, *, withdrawn_kept_for: timedelta) -> set[str]:
    """Return the SHA-256 of everything that the store must have: archives, columns and files of challenges."""
    return _needed(session, None, now() - withdrawn_kept_for)


def _needed(session: Session, names: Iterable[str] | None, withdrawn_before: datetime) -> set[str]:
    """Return which contents are needed, of these or of all."""
    is_kept = or_(Submission.state != State.WITHDRAWN, Submission.finished_at > withdrawn_before)
    is_needed = and_(Submission.has_archive, is_kept)
    found: list[tuple[InstrumentedAttribute[Any], Any]] = [
        (Submission.archive_sha256, is_needed),
        (Submission.columns_sha256, is_needed),
        (ChallengeFile.sha256, true()),
    ]
    queries = [select(column).where(which, column.is_not(None)) for column, which in found]
    if names is not None:
        listed = list(names)
        queries = [query.where(column.in_(listed)) for query, (column, _) in zip(queries, found, strict=True)]
    return {name for query in queries for name in session.scalars(query)}


def batches(names: Iterator[str]) -> Iterator[list[str]]:
    """Yield as many names at a time as one query takes."""
    while batch := list(islice(names, _BATCH)):
        yield batch
