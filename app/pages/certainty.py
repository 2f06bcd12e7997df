"""How certain the scores of a leaderboard are, on its page: intervals and rank ranges."""

from dataclasses import dataclass

from markupsafe import Markup

from vocboard.app.leaderboards.board import Board, BoardRow
from vocboard.app.pages.formats import percent
from vocboard.app.statistics.boards import Interval


@dataclass(frozen=True, slots=True)
class Certainty:
    """What rows of a leaderboard show of its statistics.

    Attributes:
        decimals: of fractions.
        low: the lowest end of all intervals of means, where drawings of intervals begin.
        high: the highest end, where they end.
        has_group: whether methods beside the first cannot be distinguished from it.
    """

    decimals: int
    low: float
    high: float
    has_group: bool

    @classmethod
    def of(cls, board: Board) -> "Certainty | None":
        """Return that of a leaderboard; None if it shows no statistics, or nothing of them is known yet."""
        if board.statistics is None or not board.statistics.methods:
            return None
        in_group = [one for one in board.statistics.methods.values() if one.is_in_first_group]
        means = [one.mean for one in board.statistics.methods.values() if one.mean is not None]
        low, high = min((mean.low for mean in means), default=0.0), max((mean.high for mean in means), default=1.0)
        return cls(board.statistics.decimals, low, high, len(in_group) > 1)

    def interval(self, row: BoardRow) -> str:
        """Return the interval of the mean of a row; empty if there is none."""
        known = row.statistics
        return "" if known is None or known.mean is None else interval_text(known.mean, self.decimals)

    def drawing(self, row: BoardRow) -> Markup:
        """Return a drawing of the interval of the mean of a row, and of the mean; empty if there is none."""
        mean = None if row.statistics is None else row.statistics.mean
        if mean is None or row.mean.value is None:
            return Markup("")
        low, high, at = (self._share(value) for value in (mean.low, mean.high, row.mean.value))
        return Markup(  # noqa: S704  # numbers
            f'<svg class="interval" aria-hidden="true"><rect x="{low:.1f}%" width="{high - low:.1f}%" height="100%"/>'
            f'<line x1="{at:.1f}%" x2="{at:.1f}%" y2="100%"/></svg>'
        )

    def _share(self, value: float) -> float:
        """Return where a value is drawn, in per cent of the cell, with a margin for lines."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return 2 + 96 * min(max(share, 0.0), 1.0)

    def ranks(self, row: BoardRow) -> Markup:
        """Return the cell of the rank range of a row."""
        known = row.statistics
        if known is None:
            return Markup('<td class="ranks none">–</td>')
        ranks = "–"
        if known.ranks is not None:
            ranks = range_of_ranks(known.ranks)
        if known.is_in_first_group and self.has_group:
            first = row.rank == 1
            title = (
                "The first of those that cannot be distinguished" if first else "Cannot be distinguished from the first"
            )
            ranks += f' <b title="{title}">≈</b>'
        return Markup(f'<td class="ranks">{ranks}</td>')  # noqa: S704  # numbers


def interval_text(interval: Interval, decimals: int) -> str:
    """Return an interval in per cent; without decimals if both ends are whole per cent, as those of coarse scores are.

    >>> interval_text(Interval(0.768, 0.792), 3), interval_text(Interval(0.74, 0.77), 3)
    ('76.8–79.2', '74–77')
    """
    ends = [percent(end, decimals) for end in (interval.low, interval.high)]
    if all(end.rpartition(".")[2].strip("0") == "" for end in ends):
        ends = [end.partition(".")[0] for end in ends]
    return "–".join(ends)


def range_of_ranks(ranks: tuple[int, int]) -> str:
    """Return a range of ranks.

    >>> range_of_ranks((1, 3)), range_of_ranks((2, 2))
    ('1–3', '2')
    """
    best, worst = ranks
    return f"{best}" if best == worst else f"{best}–{worst}"
