"""Drawings of the scores of all submissions, a strip for each leaderboard, in per cent of their size."""

from collections.abc import Sequence
from dataclasses import dataclass

from vocboard.app.organising.score_distributions import BINS, BoardScores
from vocboard.app.pages.charts import Scale
from vocboard.app.pages.formats import plural
from vocboard.app.pages.organise.time_charts import MIN_HEIGHT, Bar

BAR_OF_SCORES = 0.02  # a fraction


@dataclass(frozen=True, slots=True)
class ScoreStrip:
    """The distribution of the scores of one competition; places are in per cent."""

    board: BoardScores
    bars: tuple[Bar, ...]
    median: float
    best: float
    reported: tuple[tuple[float, str], ...]


def score_strips(boards: Sequence[BoardScores]) -> tuple[Scale, dict[tuple[str, str], ScoreStrip]]:
    """Return the distributions of scores on one scale, by phase and competition."""
    ends = [end / BINS for one in boards for end in (min(one.bins), max(one.bins))]
    scale = Scale.over([*ends, *(mean for one in boards for _, mean in one.reported)])
    return scale, {(one.phase.key, one.competition.key): _strip(one, scale) for one in boards}


def _strip(board: BoardScores, scale: Scale) -> ScoreStrip:
    def at(value: float) -> float:
        return 3 + 94 * (value - scale.low) / (scale.high - scale.low)  # as `Scale.at`

    width = min(BAR_OF_SCORES, (scale.high - scale.low) / 40)
    bins: dict[int, int] = {}
    for thousandths, count in board.bins.items():
        number = int((thousandths / BINS - scale.low + 1e-9) / width)
        bins[number] = bins.get(number, 0) + count
    peak = max(bins.values())
    bars = []
    for number, count in sorted(bins.items()):
        low = scale.low + number * width
        height = max(100 * count / peak, 2 * MIN_HEIGHT)
        text = f"{100 * low:.1f} to {100 * (low + width):.1f} %: {plural(count, 'submission')}"
        bars.append(Bar("scored", at(low), 100 - height, 0.9 * (at(low + width) - at(low)), height, text))
    reported = tuple((at(mean), method) for method, mean in board.reported)
    return ScoreStrip(board, tuple(bars), at(board.median), at(board.best), reported)
