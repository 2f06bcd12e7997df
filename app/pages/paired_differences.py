"""Differences between compared methods: by how much each is better or worse than the first chosen one."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vocboard.app.database import Database
from vocboard.app.leaderboards.board import Board, BoardRow, Cell
from vocboard.app.leaderboards.shown_statistics import MEAN, differences
from vocboard.app.pages.formats import signed_interval, signed_percent
from vocboard.app.statistics.boards import MAX_METHODS_BY_CLASS
from vocboard.app.statistics.differences import Differences


@dataclass(frozen=True, slots=True)
class PairedCell:
    """The score of a method minus that of the first one, in percentage points.

    Attributes:
        difference, low, high: as text.
        is_significant: whether the interval does not contain 0.
    """

    difference: str
    low: str
    high: str
    is_significant: bool


@dataclass(frozen=True, slots=True)
class PairedRow:
    """The differences in one column of the leaderboard.

    Attributes:
        cells: one for each method but the first; None where a score is undefined, or the method was not compared.
        reason: why no method is compared in it; empty if one is.
    """

    name: str
    cells: tuple[PairedCell | None, ...]
    reason: str


def paired_differences(database: Database, board: Board, chosen: Sequence[BoardRow]) -> list[PairedRow]:
    """Return the differences of the means, and of each class that the leaderboard shows; empty without statistics.

    A row without any difference says why, also if all rows are without.

    Args:
        chosen: rows of the leaderboard; the others are compared with the first.
    """
    statistics = board.statistics
    if statistics is None or not statistics.is_current or statistics.statistics_id is None or len(chosen) < 2:
        return []
    if not statistics.methods:
        return []
    with database.reading() as session:
        known = differences(session, statistics.statistics_id, [MEAN, *board.classes])
    results = {entry.submission_id: entry.result_id for entry in board.rows.entries}
    rows = [_row("Mean", known.get(MEAN), [row.mean for row in chosen], chosen, results, statistics.decimals)]
    why_not = "fewer than ten test images show the class, or determine the difference"
    if len(board.rows) > MAX_METHODS_BY_CLASS:
        why_not = f"not compared by class on leaderboards of more than {MAX_METHODS_BY_CLASS} methods"
    for place, name in enumerate(board.classes):
        cells = [row.cells[place] for row in chosen]
        rows.append(_row(name, known.get(name), cells, chosen, results, statistics.decimals, why_not))
    return rows


def _row(
    name: str,
    known: Differences | None,
    cells: Sequence[Cell],
    chosen: Sequence[BoardRow],
    results: Mapping[uuid.UUID, uuid.UUID | None],
    decimals: int,
    why_not: str = "not all classes entered, or fewer than ten test images determine the difference",
) -> PairedRow:
    def paired(place: int) -> PairedCell | None:
        first, other = (row.submission_id and results.get(row.submission_id) for row in (chosen[0], chosen[place]))
        ours, theirs = cells[place].value, cells[0].value
        if known is None or first is None or other is None or ours is None or theirs is None:
            return None
        found = known.of(other, first, decimals)
        if found is None:
            return None
        low, high = signed_interval((found.low, found.high), decimals)
        return PairedCell(signed_percent(ours - theirs, decimals), low, high, found.is_significant)

    found = tuple(paired(place) for place in range(1, len(chosen)))
    if any(found):
        return PairedRow(name, found, "")
    values = [cell.value for cell in cells]
    is_undefined = values[0] is None or all(value is None for value in values[1:])
    return PairedRow(name, found, "score undefined, or class not entered" if is_undefined else why_not)
