"""What a leaderboard says in a few words: how many methods it has, who leads, and where the reader is.

All of it is taken from the leaderboard as it is shown, so it tells nothing that its phase hides: names on an anonymous
leaderboard, decimals, what came after it was frozen.
"""

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from vocboard.app.evaluations.origin import ImportedScores
from vocboard.app.leaderboards.board import Board, BoardRow
from vocboard.app.leaderboards.corrections import Removal
from vocboard.app.leaderboards.current import CurrentBoard
from vocboard.evaluator.editions import Competition

LEADERS = 3  # methods


@dataclass(frozen=True, slots=True)
class OwnPlace:
    """The best row of a reader's methods.

    Attributes:
        behind: by how much its mean is worse than that of the first, a fraction of two rounded means; None for the
            first, for a method that did not enter all classes, and where a mean is undefined.
    """

    row: BoardRow
    behind: float | None

    @property
    def leads(self) -> bool:
        """Whether it is the first."""
        return self.row.rank == 1


@dataclass(frozen=True, slots=True)
class Standings:
    """One leaderboard in short.

    Attributes:
        phase: key of its phase.
        decimals: how many of a score's are shown.
        count: methods on it.
        leaders: the first three that have a rank.
        latest: when the latest of them was submitted; None if there is none.
        imported: where its scores came from; None if they were computed on this server.
        removals: results that organisers removed after it was frozen, the latest first.
        own: the reader's; None without one, and on an anonymous leaderboard.
    """

    competition: Competition
    phase: str
    decimals: int
    count: int
    leaders: tuple[BoardRow, ...]
    latest: datetime | None
    own: OwnPlace | None
    imported: ImportedScores | None = None
    removals: tuple[Removal, ...] = ()

    @property
    def leader(self) -> BoardRow | None:
        """The first; None if no method has a rank."""
        return self.leaders[0] if self.leaders else None


def standings(board: Board, own: Collection[uuid.UUID]) -> Standings:
    """Return a leaderboard in short.

    Args:
        own: the reader's submissions, of this challenge and others.
    """
    rows = board.rows
    return Standings(
        competition=board.competition,
        phase=board.phase,
        decimals=board.decimals,
        count=len(rows),
        leaders=tuple(row for row in rows[:LEADERS] if row.rank is not None),
        latest=max((entry.submitted_at for entry in rows.entries), default=None),
        own=_own(board, own),
        imported=board.imported,
        removals=board.removals,
    )


def fullest(current: CurrentBoard) -> str:
    """Return the competition with the most methods among those of a leaderboard's phase; of equals the first."""
    return max(current.phase.competitions, key=lambda key: current.counts.get(key, 0))


def _own(board: Board, own: Collection[uuid.UUID]) -> OwnPlace | None:
    places = [place for each in own if (place := board.place_of(each)) is not None]
    if not places:
        return None
    row, first = board.rows[min(places)], board.rows[0]
    if row.rank == 1 or not row.is_complete or row.mean.value is None or first.mean.value is None:
        return OwnPlace(row, None)
    return OwnPlace(row, abs(first.mean.value - row.mean.value))
