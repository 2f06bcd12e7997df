"""Current leaderboards, computed again only when their revision has changed.

Concurrent requests that wait for the same query share one run of it.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Hashable, Mapping, Sized
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from cachetools import LRUCache

from vocboard.app.accounts.models import User
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import Phase, leaderboard_phase, phase_named, phases_of
from vocboard.app.database import Database, now
from vocboard.app.errors import ForbiddenError
from vocboard.app.leaderboards import freezing, queries, service
from vocboard.app.leaderboards.board import Board, Part
from vocboard.app.leaderboards.entries import EntryCache
from vocboard.app.leaderboards.queries import Revision

CACHED_CELLS = 250_000  # cells of all cached leaderboards, at about a hundred bytes each
CACHED_BYTES = 64 * 1024 * 1024  # bytes of all cached renderings

Rendering = TypeVar("Rendering", bound=Sized)
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class CurrentBoard:
    """A leaderboard at a revision.

    Attributes:
        challenge: with its competitions and phases; belongs to no session.
        phase: the one that the leaderboard is of.
        revision: None if the database has none; then nothing is cached.
        counts: methods on each leaderboard of the phase's competitions that has any.
        has_ladder: whether the Ladder mechanism hid scores when it was read.
        is_visible: whether others than organisers could see it then.
    """

    challenge: Challenge
    phase: Phase
    board: Board
    revision: Revision | None
    counts: Mapping[str, int]
    has_ladder: bool
    is_visible: bool

    @property
    def identity(self) -> Hashable:
        """Identifies it among all leaderboards of the same revision."""
        board = self.board
        state = (board.frozen_at is not None, board.is_anonymous, board.ladder_step, self.is_visible)
        return board.competition.key, board.phase, board.part, *state

    @property
    def stage(self) -> Hashable:
        """As `_stage` gave it."""
        return self.board.frozen_at is not None, self.board.is_anonymous, self.has_ladder, self.is_visible

    @property
    def cells(self) -> int:
        """Size of the leaderboard, for the cache."""
        return (1 + len(self.board.rows)) * (1 + len(self.board.classes))


class HiddenLeaderboardError(ForbiddenError):
    """A leaderboard that the organisers show from a date on."""

    code, title = "leaderboard_hidden", "Not visible yet"

    def __init__(self, challenge: Challenge, phase: Phase) -> None:
        self.challenge, self.phase = challenge, phase
        self.visible_from = phase.rules.leaderboard_from
        super().__init__(f"This leaderboard will be visible from {self.visible_from:%Y-%m-%d %H:%M} UTC.")


@dataclass(frozen=True, slots=True)
class _Target:
    """Which leaderboard is asked for."""

    slug: str
    competition: str
    phase_key: str | None
    part: Part

    def phase(self, challenge: Challenge, at: datetime) -> Phase:
        if self.phase_key is None:
            return leaderboard_phase(challenge, at)
        return phase_named(challenge, self.phase_key)


def _stage(phase: Phase, at: datetime) -> Hashable:
    """Return the properties of a leaderboard that change with time alone: frozen, anonymous, hiding scores, visible."""
    is_visible = phase.is_leaderboard_visible(at)
    return phase.is_frozen(at), phase.is_anonymous(at), phase.ladder_step(at) is not None, is_visible


class CoalescedQueries(Generic[Answer]):
    """Runs queries in threads, at most one per key at a time.

    A request that arrives during a run waits for the next run, together with all others that arrive until then. So no
    answer is older than the request. Use an object in one event loop only.
    """

    def __init__(self) -> None:
        self._next: dict[Hashable, asyncio.Task[Answer]] = {}
        self._running: dict[Hashable, asyncio.Task[Answer]] = {}

    async def run(self, key: Hashable, query: Callable[[], Answer]) -> Answer:
        """Return the result of the next run of a query, or raise its exception.

        Args:
            key: identifies the query; the `query` of any request with this key may be the one that is run.
            query: blocks; called in a thread.
        """
        task = self._next.get(key)
        if task is None:
            task = self._next[key] = asyncio.create_task(self._run(key, query))
        return await asyncio.shield(task)  # cancelling one request must not cancel the others' query

    async def _run(self, key: Hashable, query: Callable[[], Answer]) -> Answer:
        if previous := self._running.get(key):
            await asyncio.wait([previous])
        # No request can join from here on: the query may miss what is committed after it has begun.
        self._running[key] = self._next.pop(key)
        try:
            return await asyncio.to_thread(query)
        finally:
            if key not in self._next:
                del self._running[key]


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
        self._entries = EntryCache()
        self._boards_lock = threading.Lock()  # queries run in threads
        self._renderings: LRUCache[Hashable, Any] = LRUCache(CACHED_BYTES, getsizeof=len)
        self._rendering: dict[Hashable, asyncio.Task[Any]] = {}

    async def get(
        self,
        slug: str,
        competition: str,
        viewer: User | None,
        *,
        phase_key: str | None = None,
        part: Part = Part.COUNTING,
        revision: Revision | None = None,
    ) -> CurrentBoard:
        """Return a current leaderboard, for a person who may see it.

        Args:
            phase_key: by default, the phase whose leaderboards are shown first.
            revision: read for this request, with the right to see the challenge; None to read it.

        Raises:
            NotFoundError: the person cannot see such a challenge, or it has no such phase, competition or part.
            HiddenLeaderboardError: it is not visible yet.
        """
        who = viewer and (viewer.id, viewer.role)  # what the right to see a draft depends on
        wanted = _Target(slug, competition, phase_key, part)
        if revision is not None:
            cached = self._cached(wanted, revision, now())
            if cached is not None and cached.is_visible:  # which its stage includes
                return cached
        return await self._queries.run((wanted, who), lambda: self._get(wanted, viewer))

    def read(self, slug: str, competition: str, viewer: User | None, *, phase_key: str) -> CurrentBoard:
        """Do the same as `get` in this thread, for handlers that run in one."""
        return self._get(_Target(slug, competition, phase_key, Part.COUNTING), viewer)

    async def with_results(
        self, challenge: Challenge, viewer: User | None, revision: Revision | None = None
    ) -> CurrentBoard:
        """Return a leaderboard of the phase whose results overviews show.

        That is the phase whose leaderboards are shown first or, as long as it has no results, the one that opened last
        of those that have some.

        Args:
            challenge: with its competitions and phases.
            revision: as for `get`.

        Raises:
            NotFoundError: the person cannot see the challenge any more, or its phases have changed.
            HiddenLeaderboardError: leaderboards are not visible yet, and no other phase has results.
        """
        at = now()
        default = leaderboard_phase(challenge, at)
        earlier = [each for each in phases_of(challenge) if each.has_opened(at) and each.key != default.key]
        found: list[CurrentBoard] = []
        hidden: list[HiddenLeaderboardError] = []
        for phase in (default, *reversed(earlier)):
            try:
                key = phase.competitions[0]
                current = await self.get(challenge.slug, key, viewer, phase_key=phase.key, revision=revision)
            except HiddenLeaderboardError as error:
                hidden.append(error)
                continue
            if current.counts:
                return current
            found.append(current)
        if hidden:
            raise hidden[0]
        return found[0]

    async def first(self, slug: str, viewer: User | None, *, phase_key: str | None = None) -> CurrentBoard:
        """Return the leaderboard of a phase's first competition with entries, or of its first one if none has any.

        Raises:
            NotFoundError: the person cannot see such a challenge, or it has no such phase.
            HiddenLeaderboardError: its leaderboards are not visible yet.
        """
        challenge = await asyncio.to_thread(self._challenge, slug, viewer)
        phase = _Target(slug, "", phase_key, Part.COUNTING).phase(challenge, now())
        current = await self.get(slug, phase.competitions[0], viewer, phase_key=phase_key)
        found = next((key for key in current.phase.competitions if current.counts.get(key)), None)
        if found is None or found == current.board.competition.key:
            return current
        return await self.get(slug, found, viewer, phase_key=phase_key, revision=current.revision)

    async def with_entries(
        self, slug: str, viewer: User | None, *, phase_key: str | None = None
    ) -> tuple[CurrentBoard, list[CurrentBoard]]:
        """Return what `first` does, and all leaderboards of its phase that have entries, in the phase's order.

        Raises:
            NotFoundError, HiddenLeaderboardError: as `first`.
        """
        first = await self.first(slug, viewer, phase_key=phase_key)
        found = []
        for competition in first.phase.competitions:
            if competition == first.board.competition.key:
                found.append(first)
            elif first.counts.get(competition):
                found.append(await self.get(slug, competition, viewer, phase_key=phase_key, revision=first.revision))
        return first, [current for current in found if current.board.rows]

    async def of_all_phases(self, slug: str, viewer: User | None) -> tuple[CurrentBoard, list[CurrentBoard]]:
        """Return what `with_entries` does, of all phases whose leaderboards the viewer may see, in their order.

        Raises:
            NotFoundError: as `first`.
            HiddenLeaderboardError: the viewer may see those of no phase.
        """
        challenge = await asyncio.to_thread(self._challenge, slug, viewer)
        firsts: list[CurrentBoard] = []
        found: list[CurrentBoard] = []
        for phase in phases_of(challenge):
            with contextlib.suppress(HiddenLeaderboardError):
                first, shown = await self.with_entries(slug, viewer, phase_key=phase.key)
                firsts.append(first)
                found += shown
        return firsts[0] if firsts else await self.first(slug, viewer), found

    def _challenge(self, slug: str, viewer: User | None) -> Challenge:
        with self._database.reading() as session:
            return challenges.get_visible(session, slug, viewer)

    def cached_rendering(self, current: CurrentBoard, key: Hashable) -> Any:
        """Return what `rendered` would, if it is cached; else None."""
        return None if current.revision is None else self._renderings.get((current.identity, current.revision, key))

    async def rendered(self, current: CurrentBoard, key: Hashable, render: Callable[[], Rendering]) -> Rendering:
        """Return the cached rendering of a board, or render it in a thread.

        Args:
            key: everything but the board that the rendering depends on.
        """
        if current.revision is None:
            return await asyncio.to_thread(render)
        cached: Rendering | None = self.cached_rendering(current, key)
        if cached is not None:
            return cached
        full_key = (current.identity, current.revision, key)
        if full_key not in self._rendering:
            self._rendering[full_key] = asyncio.create_task(self._render(full_key, render))
        rendering: Rendering = await asyncio.shield(self._rendering[full_key])
        return rendering

    def _get(self, wanted: "_Target", viewer: User | None) -> CurrentBoard:
        at = now()
        with self._database.reading_autocommit() as session:
            revision = queries.revision(session, wanted.slug, viewer)
        if revision is not None and (cached := self._cached(wanted, revision, at)) is not None:
            self._check_visible(cached.challenge, cached.phase, viewer, at)
            return cached
        try:
            current = self._read(wanted, viewer, at)
        except service.NotFrozenYetError:
            with self._database.writing() as session:
                freezing.freeze_due(session, challenges.get_visible(session, wanted.slug, viewer))
            current = self._read(wanted, viewer, at)
        if current.revision is not None:
            with self._boards_lock, contextlib.suppress(ValueError):  # too large for the cache
                self._boards[wanted] = current
        return current

    def _cached(self, wanted: "_Target", revision: Revision, at: datetime) -> CurrentBoard | None:
        with self._boards_lock:
            cached = self._boards.get(wanted)
        if cached is None or cached.revision != revision:
            return None
        phase = wanted.phase(cached.challenge, at)
        return cached if phase == cached.phase and _stage(phase, at) == cached.stage else None

    def _read(self, wanted: "_Target", viewer: User | None, at: datetime) -> CurrentBoard:
        with self._database.snapshot() as session:
            revision = queries.revision(session, wanted.slug, viewer)
            challenge = challenges.get_visible(session, wanted.slug, viewer)
            phase = wanted.phase(challenge, at)
            self._check_visible(challenge, phase, viewer, at)
            board = service.board(
                session, challenge, phase, wanted.competition, part=wanted.part, at=at, cache=self._entries
            )
            counts = service.counts(session, phase, at=at)
        has_ladder, is_visible = phase.ladder_step(at) is not None, phase.is_leaderboard_visible(at)
        return CurrentBoard(challenge, phase, board, revision, counts, has_ladder, is_visible)

    def _check_visible(self, challenge: Challenge, phase: Phase, viewer: User | None, at: datetime) -> None:
        if phase.is_leaderboard_visible(at):
            return
        with self._database.reading_autocommit() as session:
            if not challenges.is_organiser(session, challenge, viewer):
                raise HiddenLeaderboardError(challenge, phase)

    async def _render(self, key: Hashable, render: Callable[[], Rendering]) -> Rendering:
        try:
            rendering = await asyncio.to_thread(render)
            with contextlib.suppress(ValueError):  # too large for the cache
                self._renderings[key] = rendering
            return rendering
        finally:
            del self._rendering[key]
