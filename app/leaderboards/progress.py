"""Progress over time on a leaderboard: when methods were submitted, and which of them were the best so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from vocboard.app.leaderboards.board import Board


@dataclass(frozen=True, slots=True)
class RecordHolder:
    """A method that was the best when it was submitted.

    Attributes:
        number: which point of the progress it is.
        place: of its row, from 0.
        mean: as shown, a fraction.
    """

    number: int
    place: int
    method: str
    submitted_at: datetime
    mean: float


@dataclass(frozen=True, slots=True)
class Progress:
    """The methods that entered every class and have a mean, in the order of submission.

    Attributes:
        seconds: (n,) when they were submitted, since 1970.
        means: (n,) fractions, as shown.
        records: those before which no better method was submitted; the first always is.
    """

    seconds: NDArray[np.float64]
    means: NDArray[np.float64]
    records: Sequence[RecordHolder]


def progress(board: Board) -> Progress:
    """Return the progress on a leaderboard.

    Which method is better is decided by rank, so nothing is told that the leaderboard does not show.
    """
    entries, table = board.rows.entries, board.rows.tables[board.metric]
    is_complete = np.array([entry.is_complete for entry in entries], dtype=bool)
    places = np.flatnonzero(is_complete & ~np.isnan(table.scores[:, 0]))
    seconds = np.array([entries[place].submitted_at.timestamp() for place in places.tolist()], dtype=float)
    in_order = np.argsort(seconds, kind="stable")
    places, seconds = places[in_order], seconds[in_order]
    best = np.minimum.accumulate(places) if len(places) else places
    numbers = np.flatnonzero(places == best).tolist()
    records = []
    for number in numbers:
        place = int(places[number])
        mean = float(table.scores[place, 0])
        records.append(RecordHolder(number, place, entries[place].method, entries[place].submitted_at, mean))
    return Progress(seconds, table.scores[places, 0], records)
