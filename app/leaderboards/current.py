"""Leaderboards as they are now, made anew only when they have changed."""

import asyncio
import itertools
from collections.abc import Callable, Hashable, Sized
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import Database
from vocboard.app.leaderboards import queries, service
from vocboard.app.leaderboards.kept import Kept
from vocboard.app.leaderboards.rounds import Rounds
from vocboard.app.leaderboards.service import Board

MOST_CELLS = 250_000  # of all boards that are kept, at some hundred bytes each
MOST_BYTES = 64 * 1024 * 1024  # of all that was made of them

Made = TypeVar("Made", bound=Sized)


@dataclass(frozen=True, slots=True)
class CurrentBoard:
    """A leaderboard as it was when somebody looked at it.

    Attributes:
        challenge: with its competitions; of no session.
        number: the same for the same board, for no other one.
    """

    challenge: Challenge
    board: Board
    number: int


class Boards:
    """The leaderboards of this process.

    Nothing is ever declared invalid. Each look asks the database for all that may change of a board, which is little,
    and keeps to what was made of the same before: whatever was committed before a request shows in its answer, by
    whichever process it was written. Belongs to one event loop.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rounds: Rounds[CurrentBoard] = Rounds()
        self._boards: Kept[Hashable, tuple[Hashable, CurrentBoard]] = Kept(MOST_CELLS)
        self._made: Kept[Hashable, Any] = Kept(MOST_BYTES)
        self._making: dict[Hashable, asyncio.Task[Any]] = {}
        self._numbers = itertools.count()

    async def look(self, slug: str, competition: str, viewer: User | None) -> CurrentBoard:
        """Return a leaderboard as it is now, for a person who may see it.

        Raises:
            NotFoundError: the person cannot see such a challenge, or it has no such competition.
        """
        who = viewer and (viewer.id, viewer.role)  # all that decides what one may see
        return await self._rounds.ask((slug, competition, who), lambda: self._look(slug, competition, viewer))

    async def made(self, current: CurrentBoard, what: Hashable, make: Callable[[], Made]) -> Made:
        """Return what is made of nothing but a board and `what`, kept from before or made now, in a thread."""
        key = (current.number, what)
        found: Made | None = self._made.get(key)
        if found is not None:
            return found
        if key not in self._making:
            self._making[key] = asyncio.create_task(self._make(key, make))
        made: Made = await asyncio.shield(self._making[key])
        return made

    def _look(self, slug: str, competition: str, viewer: User | None) -> CurrentBoard:
        key = slug, competition
        with self._database.glance() as session:
            found = _state(session, slug, competition, viewer)
        kept = self._boards.get(key)
        if kept is not None and kept[0] == found:
            return kept[1]
        with self._database.snapshot() as session:
            found = _state(session, slug, competition, viewer)
            challenge = challenges.get_visible(session, slug, viewer)
            board = service.board(session, challenge, competition)
        current = CurrentBoard(challenge, board, next(self._numbers))
        self._boards.put(key, (found, current), (1 + len(board.rows)) * (1 + len(board.classes)))
        return current

    async def _make(self, key: Hashable, make: Callable[[], Made]) -> Made:
        try:
            made = await asyncio.to_thread(make)
            self._made.put(key, made, len(made))
            return made
        finally:
            del self._making[key]


def _state(session: Session, slug: str, competition: str, viewer: User | None) -> Hashable | None:
    """Return all that a board is made of and that may change; None if there is no such board to be seen."""
    # PostgreSQL refuses to be asked for some of what stands in addresses; no challenge or competition is called so.
    is_askable = f"{slug}{competition}".isascii() and f"{slug}{competition}".isprintable()
    return queries.look(session, slug, competition, viewer) if is_askable else None
