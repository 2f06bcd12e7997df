"""Published results that have been read before, so that a leaderboard of thousands is not read whole after each change.

PostgreSQL gives each version of a row a number, `xmin`. One statement returns those of all published submissions, their
methods and their entries in the competition; what has other numbers than before is read again. Evaluations and scores
are never changed: a submission with new ones is itself a new version. SQLite has no such numbers; there everything is
read.

Source: PostgreSQL documentation, "System Columns" and "Transaction ID Wraparound": a number comes again after four
billion transactions.
"""

import threading
import uuid
from collections.abc import Hashable, Mapping
from typing import Any

from cachetools import LRUCache
from sqlalchemy import text
from sqlalchemy.orm import Session

from vocboard.app.leaderboards import entries
from vocboard.app.leaderboards.entries import Published
from vocboard.evaluator.editions import Metric

CACHED_ENTRIES = 20_000  # of all leaderboards
MAX_CHANGED = 1_000  # entries; more are read with all others
SEPARATOR = " "

# One value, because ten thousand rows of a result take longer to receive than to find. Sorted before they are joined,
# which is faster than an order of the aggregate's own.
_VERSIONS = text(
    """
    SELECT string_agg(version, E'\\n') FROM (
        SELECT submissions.id || ' ' || submissions.xmin || ' ' || methods.xmin || ' ' || submission_entries.xmin
            AS version
        FROM submissions JOIN methods ON methods.id = submissions.method_id
        JOIN submission_entries ON submission_entries.submission_id = submissions.id
            AND submission_entries.competition = :competition AND NOT submission_entries.is_private
        WHERE submissions.phase_id = :phase_id
            AND submissions.state = 'scored' AND submissions.published_at IS NOT NULL
        ORDER BY submissions.created_at, submissions.id
    ) AS versions
    """
)


class EntryCache:
    """What has been read of some leaderboards; may be used by several threads."""

    def __init__(self) -> None:
        self._known: LRUCache[Hashable, Mapping[str, Published | None]] = LRUCache(CACHED_ENTRIES, getsizeof=len)
        self._lock = threading.Lock()

    def published(
        self, session: Session, phase_id: uuid.UUID, competition: str, others: tuple[Metric, ...]
    ) -> list[Published]:
        """Return what `entries.published` returns, and read only what has changed since the last time."""
        if session.get_bind().dialect.name != "postgresql":
            return entries.published(session, phase_id, competition, others)
        key = (phase_id, competition, others)
        with self._lock:
            known: Mapping[str, Published | None] = self._known.get(key, {})
        parameters: Mapping[str, Any] = {"phase_id": phase_id, "competition": competition}
        versions = (session.scalar(_VERSIONS, parameters) or "").split("\n")
        changed = [version for version in versions if version and version not in known]
        ids = {uuid.UUID(version.partition(SEPARATOR)[0]): version for version in changed}
        read = entries.published(
            session,
            phase_id,
            competition,
            others,
            only=list(ids) if len(changed) <= MAX_CHANGED else None,
        )
        found = {ids[one.entry.submission_id]: one for one in read if one.entry.submission_id in ids}
        now_known = {version: known.get(version) or found.get(version) for version in versions if version}
        if len(now_known) <= CACHED_ENTRIES:
            with self._lock:
                self._known[key] = now_known
        return [one for one in now_known.values() if one is not None]
