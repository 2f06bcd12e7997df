"""The leaderboards of a challenge as a table: a row for each task, a column for what methods may be trained on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vocboard.app.leaderboards.board import BoardRow
from vocboard.app.leaderboards.standings import Standings
from vocboard.app.pages import wording
from vocboard.evaluator.editions import Competition, Training


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A competition; `standings` is None if no method has entered it, or its leaderboard is not visible."""

    competition: Competition
    standings: Standings | None


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A task: its competitions for each column; a custom edition may have none or several for one."""

    first: Competition
    cells: tuple[tuple[MatrixCell, ...], ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """All competitions of a phase."""

    columns: tuple[Training, ...]
    rows: tuple[MatrixRow, ...]

    @property
    def leaders(self) -> list[BoardRow]:
        """The first of each leaderboard that has one."""
        cells = (cell for row in self.rows for column in row.cells for cell in column)
        return [cell.standings.leader for cell in cells if cell.standings is not None and cell.standings.leader]


def matrix(competitions: Sequence[Competition], found: Mapping[str, Standings]) -> Matrix:
    """Arrange competitions by task and by training data, both in the order of the phase.

    Args:
        found: the standings, by competition.
    """
    columns = tuple(dict.fromkeys(each.training for each in competitions))
    by_task: dict[str, list[Competition]] = {}
    for each in competitions:
        by_task.setdefault(wording.task_title(each), []).append(each)
    rows = tuple(
        MatrixRow(
            group[0],
            tuple(
                tuple(MatrixCell(each, found.get(each.key)) for each in group if each.training is column)
                for column in columns
            ),
        )
        for group in by_task.values()
    )
    return Matrix(columns, rows)
