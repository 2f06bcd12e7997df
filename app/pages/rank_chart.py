"""Critical-difference diagram: mean ranks of methods over the classes, and which of them do not differ.

Source: Demšar (2006), figure 1.
"""

from dataclasses import dataclass

from vocboard.app.leaderboards.board import Board
from vocboard.app.leaderboards.rank_tests import RankTest, rank_test
from vocboard.evaluator.editions import Metric

WIDTH, EDGE = 960, 230  # units, about pixels: of the drawing, and of the names on either side of the axis
AXIS, BAR, LINE = 46, 7, 21  # where the axis is; the height of a group's bar and of a name's line
OVERHANG = 4  # of bars, beyond the mean ranks that they join
MAX_NAME = 26  # letters


@dataclass(frozen=True, slots=True)
class RankMark:
    """A method of the diagram.

    Attributes:
        row: on the leaderboard, from 0.
        groups: letters of the groups that it belongs to.
        x: where its mean rank is.
        y: height of its name.
        is_left: whether its name is at the left edge.
    """

    row: int
    name: str
    mean_rank: float
    groups: str
    x: float
    y: float
    is_left: bool


@dataclass(frozen=True, slots=True)
class RankChart:
    """A critical-difference diagram.

    Attributes:
        ticks: where each whole rank is, and the rank.
        bars: start, end and height of the line of each group.
        marks: by mean rank.
        difference_x: where the line ends that is as long as the critical difference.
    """

    test: RankTest
    height: int
    ticks: tuple[tuple[float, int], ...]
    bars: tuple[tuple[float, float, float], ...]
    marks: tuple[RankMark, ...]
    difference_x: float


def rank_chart(board: Board, metric: Metric) -> RankChart | None:
    """Return the diagram of a leaderboard; None where there is nothing to compare (see `rank_test`)."""
    test = rank_test(board, metric)
    if test is None:
        return None
    count = len(test.rows)
    unit = (WIDTH - 2 * EDGE) / (count - 1)

    def at(rank: float) -> float:
        return round(EDGE + unit * (rank - 1), 1)

    below = AXIS + 12 + BAR * len(test.groups)
    marks = []
    for place, (row, mean_rank) in enumerate(zip(test.rows, test.mean_ranks, strict=True)):
        is_left = place < (count + 1) // 2
        line = place if is_left else count - 1 - place
        name = board.rows.entries[row].method
        groups = "".join(_letter(n) for n, (first, last) in enumerate(test.groups) if first <= place <= last)
        shortened = name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"
        marks.append(RankMark(row, shortened, mean_rank, groups, at(mean_rank), below + LINE * (line + 0.6), is_left))
    return RankChart(
        test=test,
        height=below + LINE * ((count + 1) // 2) + 6,
        ticks=tuple((at(rank), rank) for rank in range(1, count + 1)),
        bars=tuple(
            (at(test.mean_ranks[first]) - OVERHANG, at(test.mean_ranks[last]) + OVERHANG, AXIS + 10 + BAR * number)
            for number, (first, last) in enumerate(test.groups)
        ),
        marks=tuple(marks),
        difference_x=round(EDGE + unit * test.difference, 1),
    )


def _letter(number: int) -> str:
    return "abcdefghijklmnopqrstuvwxyz"[number]
