"""Which methods entered which competitions, their ranks over all, and how they did on different test sets.

All of it is computed from what the leaderboards show, so it tells nothing else.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from vocboard.app.challenges.models import OverallRank
from vocboard.app.leaderboards.board import Board, BoardKey, BoardRow
from vocboard.evaluator.editions import Competition
from vocboard.evaluator.rules import Training
from vocboard.evaluator.tasks.definitions import METRICS


@dataclass(frozen=True, slots=True)
class Participant:
    """A method; where its page is not known, what is published under one name by the same people.

    Attributes:
        contributors, affiliation: of its first row.
        places: of its row on each leaderboard, from 0; of several rows the best.
    """

    method: str
    contributors: str
    affiliation: str
    places: dict[BoardKey, int] = field(default_factory=dict)

    def is_on(self, board: Board) -> bool:
        """Whether a leaderboard has it."""
        return board.key in self.places

    def row_on(self, board: Board) -> BoardRow | None:
        """Its row on a leaderboard; None without one."""
        return board.rows[self.places[board.key]] if self.is_on(board) else None


@dataclass(frozen=True, slots=True)
class Overall:
    """How good a method is over several leaderboards.

    Attributes:
        value: the mean of its ranks, or the mean of its scores, each divided by the best of its leaderboard.
        rank: of the value as it is shown: equals share the best.
        limits: the least and the greatest mean rank that the rank ranges of the leaderboards allow; None for a mean of
            scores, and where a leaderboard has no rank range of the method.
    """

    value: float
    rank: int
    limits: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class SetComparison:
    """Methods on two test sets of the same competition otherwise.

    Attributes:
        first, second: the competitions.
        rows: of each method that entered both, on the first and on the second leaderboard, by rank on the first.
    """

    first: Competition
    second: Competition
    rows: tuple[tuple[BoardRow, BoardRow], ...]


def participants(boards: Sequence[Board]) -> list[Participant]:
    """Return the methods of some leaderboards: first those in most competitions, then those with the best ranks."""
    found: dict[Hashable, Participant] = {}
    for board in boards:
        for place, entry in enumerate(board.rows.entries):
            names = (entry.method, entry.contributors, entry.affiliation)  # versions of a method can differ in these
            method = found.setdefault(entry.links.method_id or names, Participant(*names))
            method.places.setdefault(board.key, place)
    return sorted(found.values(), key=lambda each: (-len(each.places), min(each.places.values())))


def compare_test_sets(boards: Sequence[Board], methods: Sequence[Participant]) -> list[SetComparison]:
    """Return what methods achieved on two test sets, for each pair of leaderboards that differ in nothing else.

    Args:
        boards: of one phase.
    """
    found = []
    for number, one in enumerate(boards):
        for other in boards[number + 1 :]:
            first, second = one.competition, other.competition
            alike = (first.task, first.variant, first.training) == (second.task, second.variant, second.training)
            if not alike or first.image_set == second.image_set:
                continue
            both = [each for each in methods if each.is_on(one) and each.is_on(other)]
            rows = [
                (one.rows[each.places[one.key]], other.rows[each.places[other.key]])
                for each in sorted(both, key=lambda each: each.places[one.key])
            ]
            if rows:
                found.append(SetComparison(first, second, tuple(rows)))
    return found


RANK_DECIMALS, SHARE_DECIMALS = 2, 3  # of overall values, as they are shown


def overall(
    boards: Sequence[Board], methods: Sequence[Participant], by: OverallRank
) -> dict[Training, dict[int, Overall]]:
    """Return how methods are ranked over the leaderboards that allow the same training data, if these are several.

    Only methods that have a rank on each of these leaderboards, with all classes entered, are ranked.

    Returns:
        For each kind of training data, by place in `methods`.
    """
    groups: dict[Training, list[Board]] = {}
    for board in boards:
        groups.setdefault(board.competition.training, []).append(board)
    if by is OverallRank.NONE:
        return {}
    return {training: _overall(group, methods, by) for training, group in groups.items() if len(group) > 1}


def _overall(boards: Sequence[Board], methods: Sequence[Participant], by: OverallRank) -> dict[int, Overall]:
    values, limits = {}, {}
    for number, method in enumerate(methods):
        rows = [row for board in boards if (row := method.row_on(board)) is not None]
        if len(rows) == len(boards) and all(row.is_complete and row.rank is not None for row in rows):
            if by is OverallRank.MEAN_RANK:
                values[number] = round(fmean(row.rank or 0 for row in rows), RANK_DECIMALS)
                ranges = [row.statistics.ranks for row in rows if row.statistics and row.statistics.ranks]
                if len(ranges) == len(rows):
                    best, worst = (round(fmean(ends), RANK_DECIMALS) for ends in zip(*ranges, strict=True))
                    limits[number] = best, worst
            else:
                shares = [_share(board, row) for board, row in zip(boards, rows, strict=True)]
                values[number] = -round(sum(shares) / len(shares), SHARE_DECIMALS)
    in_order = sorted(values.values())
    return {
        number: Overall(abs(value), in_order.index(value) + 1, limits.get(number)) for number, value in values.items()
    }


def _share(board: Board, row: BoardRow) -> float:
    """Return a mean divided by the best of its leaderboard; the reverse where lower is better; 1 for the best."""
    best, mean = board.rows[0].mean.value or 0.0, row.mean.value or 0.0
    smaller, larger = (mean, best) if METRICS[board.metric].higher_is_better else (best, mean)
    return 1.0 if mean == best else smaller / larger
