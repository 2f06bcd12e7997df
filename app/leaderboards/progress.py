"""Progress over time on a leaderboard: when methods were submitted, and which of them were the best so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from vocboard.app.leaderboards.board import Board


@dataclass(frozen=True, slots=True)
class Point:
    """One method that entered every class.

    Attributes:
        place: of its row, from 0.
        mean: as shown, a fraction.
        is_record: whether no method submitted before had a better rank.
    """

    place: int
    method: str
    submitted_at: datetime
    mean: float
    is_record: bool


def progress(board: Board) -> Sequence[Point]:
    """Return the complete entries with a mean, in the order of submission.

    Which is better is decided by rank, so nothing is told that the leaderboard does not show.
    """
    entries, means = board.rows.entries, board.rows.tables[board.metric].shown(0)
    complete = [
        place for place, entry in enumerate(entries) if entry.is_complete and board.rows.ranks[place] is not None
    ]
    points, best = [], len(entries)
    for place in sorted(complete, key=lambda place: (entries[place].submitted_at, place)):
        mean = means[place]
        if mean is None:
            continue
        is_record = place < best
        best = min(best, place)
        points.append(Point(place, entries[place].method, entries[place].submitted_at, mean, is_record))
    return points
