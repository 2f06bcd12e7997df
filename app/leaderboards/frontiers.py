"""The best means of a leaderboard over time, or up to each value of a declared number: step lines on its page.

Which method is better is decided by rank, so nothing is told that the leaderboard does not show.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.app.leaderboards.board import Board
from vocboard.evaluator.declarations import Declaration

MAX_NAMED = 40  # methods: of more, only leaders are named


@dataclass(frozen=True, slots=True)
class Point:
    """A method.

    Attributes:
        number: which point of the frontier it is.
        place: of its row, from 0.
        at: when it was submitted, in seconds since 1970, or its declared number.
        mean: as shown, a fraction.
    """

    number: int
    place: int
    method: str
    at: float
    mean: float


@dataclass(frozen=True, slots=True)
class Frontier:
    """The methods that entered every class and have a mean, in order of a number.

    Attributes:
        numbers: (n,) ascending.
        means: (n,) fractions, as shown.
        leaders: those before which there is no method as good; the first always is one.
        others: the rest, if they are few enough to be named.
    """

    numbers: NDArray[np.float64]
    means: NDArray[np.float64]
    leaders: Sequence[Point]
    others: Sequence[Point]


def progress(board: Board) -> Frontier:
    """Return the best means of a leaderboard over time of submission, in seconds since 1970."""
    return _frontier(board, [entry.submitted_at.timestamp() for entry in board.rows.entries])


def against(board: Board, figure: Declaration) -> Frontier:
    """Return the best means of a leaderboard up to each value of a declared number, of the methods that declared it."""
    return _frontier(board, [entry.declared.value(figure) for entry in board.rows.entries])


def _frontier(board: Board, given: Sequence[float | str | None]) -> Frontier:
    entries, table = board.rows.entries, board.rows.tables[board.metric]
    known = np.array([np.nan if number is None else float(number) for number in given], dtype=float)
    is_complete = np.array([entry.is_complete for entry in entries], dtype=bool)
    places = np.flatnonzero(is_complete & ~np.isnan(table.scores[:, 0]) & ~np.isnan(known))
    places = places[np.argsort(known[places], kind="stable")]
    leaders, others = [], []
    best = len(entries) + 1
    for number, (place, rank) in enumerate((place, board.rows.ranks[place]) for place in places.tolist()):
        is_leader = rank is not None and rank < best
        if not is_leader and len(places) > MAX_NAMED:
            continue
        point = Point(number, place, entries[place].method, float(known[place]), float(table.scores[place, 0]))
        if is_leader and rank is not None:
            best = rank
            leaders.append(point)
        else:
            others.append(point)
    return Frontier(known[places], table.scores[places, 0], leaders, others)
