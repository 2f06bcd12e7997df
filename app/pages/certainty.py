"""How certain the scores of a leaderboard are, on its page: intervals with a drawing, and rank ranges."""

from dataclasses import dataclass

from markupsafe import Markup

from vocboard.app.leaderboards.board import Board, BoardRow
from vocboard.app.pages.formats import percent
from vocboard.app.statistics.boards import Interval


@dataclass(frozen=True, slots=True)
class Certainty:
    """The cells of a leaderboard's statistics.

    Attributes:
        low: fraction at the left end of the drawings.
        high: at the right end.
        decimals: of fractions.
        has_group: whether methods beside the first cannot be distinguished from it.
    """

    low: float
    high: float
    decimals: int
    has_group: bool

    @classmethod
    def of(cls, board: Board) -> "Certainty | None":
        """Return the cells of a leaderboard; None if it shows no statistics, or nothing of them is known yet."""
        if board.statistics is None or not board.statistics.methods:
            return None
        means = [one.mean for one in board.statistics.methods.values() if one.mean is not None]
        low, high = min((mean.low for mean in means), default=0.0), max((mean.high for mean in means), default=1.0)
        in_group = [one for one in board.statistics.methods.values() if one.is_in_first_group]
        return cls(low, high, board.statistics.decimals, len(in_group) > 1)

    def cells(self, row: BoardRow) -> Markup:
        """Return the cells of a row: the interval of the mean, and the rank range."""
        known = row.statistics
        if known is None:
            return Markup('<td class="interval none">–</td><td class="ranks none">–</td>')
        ranks = "–"
        if known.ranks is not None:
            ranks = range_of_ranks(known.ranks)
        if known.is_in_first_group and self.has_group:
            first = row.rank == 1
            title = (
                "The first of those that cannot be distinguished" if first else "Cannot be distinguished from the first"
            )
            ranks += f' <b title="{title}">≈</b>'
        interval = "–" if known.mean is None else self._drawn(known.mean, row.mean.value)
        return Markup(f'<td class="interval">{interval}</td><td class="ranks">{ranks}</td>')  # noqa: S704  # numbers

    def _drawn(self, interval: Interval, mean: float | None) -> str:
        low, high = self._at(interval.low), self._at(interval.high)
        dot = "" if mean is None else f'<circle cx="{self._at(mean):.1f}%" cy="50%" r="2"/>'
        line = f'<line x1="{low:.1f}%" x2="{high:.1f}%" y1="50%" y2="50%"/>'
        return f'<svg aria-hidden="true">{line}{dot}</svg>{interval_text(interval, self.decimals)}'

    def _at(self, value: float) -> float:
        """Return where a value is drawn, in per cent, with a margin for the dots."""
        width = self.high - self.low
        share = (value - self.low) / width if width > 0 else 0.5
        return 4 + 92 * min(max(share, 0.0), 1.0)


def interval_text(interval: Interval, decimals: int) -> str:
    """Return an interval in per cent.

    >>> interval_text(Interval(0.768, 0.792), 3)
    '76.8–79.2'
    """
    return f"{percent(interval.low, decimals)}–{percent(interval.high, decimals)}"


def range_of_ranks(ranks: tuple[int, int]) -> str:
    """Return a range of ranks.

    >>> range_of_ranks((1, 3)), range_of_ranks((2, 2))
    ('1–3', '2')
    """
    best, worst = ranks
    return f"{best}" if best == worst else f"{best}–{worst}"
