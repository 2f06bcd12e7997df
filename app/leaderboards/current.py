"""Leaderboards as they are now, computed again only when their revision has changed."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Hashable, Sized
from dataclasses import dataclass
from typing import Any, TypeVar

from cachetools import LRUCache

from vocboard.app.accounts.models import User
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import Database
from vocboard.app.leaderboards import queries, service
from vocboard.app.leaderboards.coalesced_queries import CoalescedQueries
from vocboard.app.leaderboards.queries import Revision
from vocboard.app.leaderboards.service import Board

CACHED_CELLS = 250_000  # cells of all cached leaderboards, at about a hundred bytes each
CACHED_BYTES = 64 * 1024 * 1024  # bytes of all cached renderings

Rendering = TypeVar("Rendering", bound=Sized)


@dataclass(frozen=True, slots=True)
class CurrentBoard:
    """A leaderboard at a revision.

    Attributes:
        challenge: with its competitions; detached from any session.
        revision: None if the database has none; the leaderboard is then not cached.
    """

    challenge: Challenge
    board: Board
    revision: Revision | None

    @property
    def cells(self) -> int:
        """Size of the leaderboard, for the cache."""
        return (1 + len(self.board.rows)) * (1 + len(self.board.classes))


class Boards:
    """The leaderboards of this process.

    Each request reads the board's revision from the database and uses the cached board if the revision is the same.
    The database increments the revision in the transaction that changes the board (`migrations.leaderboard_revisions`),
    so a response includes everything that was committed before its request. Use an object in one event loop only.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queries: CoalescedQueries[CurrentBoard] = CoalescedQueries()
        self._boards: LRUCache[Hashable, CurrentBoard] = LRUCache(CACHED_CELLS, getsizeof=lambda board: board.cells)
        self._boards_lock = threading.Lock()  # queries run in threads
        self._renderings: LRUCache[Hashable, Any] = LRUCache(CACHED_BYTES, getsizeof=len)
        self._rendering: dict[Hashable, asyncio.Task[Any]] = {}

    async def get(self, slug: str, competition: str, viewer: User | None) -> CurrentBoard:
        """Return a leaderboard as it is now, for a person who may see it.

        Raises:
            NotFoundError: the user cannot see such a challenge, or it has no such competition.
        """
        who = viewer and (viewer.id, viewer.role)  # the right to see a draft depends on these
        return await self._queries.run((slug, competition, who), lambda: self._get(slug, competition, viewer))

    async def rendered(self, current: CurrentBoard, key: Hashable, render: Callable[[], Rendering]) -> Rendering:
        """Return the cached rendering of a board, or render it in a thread.

        Args:
            key: everything but the board that the rendering depends on.
        """
        if current.revision is None:
            return await asyncio.to_thread(render)
        full_key = (current.board.competition.key, current.revision, key)
        cached: Rendering | None = self._renderings.get(full_key)
        if cached is not None:
            return cached
        if full_key not in self._rendering:
            self._rendering[full_key] = asyncio.create_task(self._render(full_key, render))
        rendering: Rendering = await asyncio.shield(self._rendering[full_key])
        return rendering

    def _get(self, slug: str, competition: str, viewer: User | None) -> CurrentBoard:
        key = slug, competition
        with self._database.reading_autocommit() as session:
            revision = queries.revision(session, slug, viewer)
        with self._boards_lock:
            cached = self._boards.get(key)
        if cached is not None and revision is not None and cached.revision == revision:
            return cached
        with self._database.snapshot() as session:
            revision = queries.revision(session, slug, viewer)
            challenge = challenges.get_visible(session, slug, viewer)
            current = CurrentBoard(challenge, service.board(session, challenge, competition), revision)
        if revision is not None:
            with self._boards_lock, contextlib.suppress(ValueError):  # too large for the cache
                self._boards[key] = current
        return current

    async def _render(self, key: Hashable, render: Callable[[], Rendering]) -> Rendering:
        try:
            rendering = await asyncio.to_thread(render)
            with contextlib.suppress(ValueError):  # too large for the cache
                self._renderings[key] = rendering
            return rendering
        finally:
            del self._rendering[key]
