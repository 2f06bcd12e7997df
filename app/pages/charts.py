"""Charts on pages: curves, strips of dots, divided bars, step lines of the best. All are SVG that the server draws."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from vocboard.app.evaluations.eleven_points import GRID as ELEVEN
from vocboard.app.evaluations.rounding import rounded_median
from vocboard.app.evaluations.visible import VisibleCurve
from vocboard.app.leaderboards.board import Board, Cell
from vocboard.app.leaderboards.frontiers import MAX_NAMED, Frontier, Point
from vocboard.app.pages import formats
from vocboard.app.pages.wording import AXES
from vocboard.evaluator.editions import Metric
from vocboard.evaluator.names import CurveKind
from vocboard.evaluator.plots import LARGE, TINY, Line, plot

READING_DECIMALS = 3  # of fractions

# Strips of dots.
STEPS_OF_SCALE = (0.01, 0.02, 0.05, 0.1, 0.2)
MAX_TICKS = 7
APART = 0.012  # of the strip: dots that are closer are moved up and down
SHIFT = 7  # pixels up or down

# Frontiers.
LEFT, RIGHT, TOP, BOTTOM = 34, 8, 15, 17  # margins, with the labels of the axes
LETTER, LINE = 8, 13  # about the width of a letter of a label, and the height of its line
MAX_LABEL_LENGTH = 18  # letters
STRIP_WIDTH, STRIP_HEIGHT, STRIP_EDGE = 480, 24, 8  # of the scores of a class
GRID = 2  # points that are closer than this are drawn once


@dataclass(frozen=True, slots=True)
class CurvePlot:
    """Curves in one plot, and a table of what they are at eleven places.

    Attributes:
        drawing: the plot.
        names: number of the colour and name of each curve.
        axes: their names.
        readings: place, and the height of each curve there as text.
    """

    drawing: Markup
    names: tuple[tuple[int, str], ...]
    axes: tuple[str, str]
    readings: tuple[tuple[str, tuple[str, ...]], ...]


def curve_plot(curves: Mapping[int, tuple[str, VisibleCurve]], kind: CurveKind, title: str) -> CurvePlot | None:
    """Return a plot of the curves that have points; None if there is none.

    Args:
        curves: name and curve by number of the colour.
    """
    lines = [Line.through(name, curve.points, series) for series, (name, curve) in curves.items() if curve.points]
    if not lines:
        return None
    readings = tuple((f"{100 * at:.0f}", tuple(_reading(line.height(at)) for line in lines)) for at in ELEVEN)
    drawn = plot(lines, title, AXES[kind], LARGE, readings=ELEVEN, attributes='class="curves"')
    return CurvePlot(Markup(drawn), tuple((line.series, line.name) for line in lines), AXES[kind], readings)  # noqa: S704  # escaped


def _reading(height: float | None) -> str:
    return "–" if height is None else formats.percent(height, READING_DECIMALS)


def tiny_curve(name: str, curve: VisibleCurve, kind: CurveKind) -> Markup:
    """Return the drawing of a curve among many, beside its name; empty if it has no points."""
    if not curve.points:
        return Markup("")
    attributes = 'class="curves" preserveAspectRatio="none" aria-hidden="true"'
    drawn = plot([Line.through(name, curve.points)], name, AXES[kind], TINY, attributes=attributes)
    return Markup(drawn)  # noqa: S704  # escaped


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of the strips: fractions at its ends, and in between."""

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def over(
        cls, numbers: Iterable[float | None], *, steps: Sequence[float] = STEPS_OF_SCALE, max_ticks: int = MAX_TICKS
    ) -> "Scale":
        """Return a scale with round ends that holds all numbers but None; from 0 to 1 if there are none.

        Args:
            numbers: fractions.
            steps: between ticks, in hundredths at least; the first with few enough ticks, or the last.
            max_ticks: their number, with both ends.
        """
        values = [number for number in numbers if number is not None] or [0.0, 1.0]
        for step in steps:
            first, last = int(min(values) // step), int(-(-max(values) // step))
            if last - first < max_ticks:
                break
        last = max(last, first + 1)
        ticks = tuple(round(step * number, 2) for number in range(first, last + 1))
        return cls(ticks[0], ticks[-1], ticks)

    def at(self, value: float) -> str:
        """Return where a value is, as an SVG length with margins for the dots.

        >>> Scale(0.0, 1.0, ()).at(0.5)
        '50.00%'
        """
        return f"{3 + 94 * (value - self.low) / (self.high - self.low):.2f}%"


@dataclass(frozen=True, slots=True)
class Dot:
    """The score of one method.

    Attributes:
        series: its number among those that are compared, which gives its colour.
        x: an SVG length.
        shift: pixels up or down, so that equal scores do not cover each other.
    """

    series: int
    x: str
    shift: int
    cell: Cell


def dots(cells: Sequence[Cell], scale: Scale) -> list[Dot]:
    """Return the dots of one class, for the methods that have a score."""
    placed: list[tuple[float, int]] = []
    found = []
    for series, cell in enumerate(cells):
        if cell.value is None:
            continue
        where = (cell.value - scale.low) / (scale.high - scale.low)
        taken = {shift for other, shift in placed if abs(other - where) < APART}
        shift = next(each for each in _shifts() if each not in taken)
        placed.append((where, shift))
        found.append(Dot(series, scale.at(cell.value), shift, cell))
    return found


def _shifts() -> Iterator[int]:
    yield 0
    number = 0
    while True:
        number += 1
        yield -SHIFT * number
        yield SHIFT * number


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar; start and width are fractions."""

    series: int
    start: float
    width: float
    text: str


@dataclass(frozen=True, slots=True)
class DividedBar:
    """A bar that is divided by kind; the text says the same in words."""

    name: str
    segments: tuple[Segment, ...]
    text: str
    total: str


@dataclass(frozen=True, slots=True)
class DividedBars:
    """Bars that are divided by the same kinds.

    Attributes:
        identifier: of the heading.
        kinds: number of the colour and name.
        of: what the totals count; empty without totals.
    """

    identifier: str
    title: str
    note: str
    kinds: tuple[tuple[int, str], ...]
    bars: tuple[DividedBar, ...]
    of: str = ""


def counted_bars(
    identifier: str,
    title: str,
    note: str,
    words: Mapping[str, tuple[str, int]],
    rows: Mapping[str, Mapping[str, int]],
    of: str,
) -> DividedBars:
    """Return bars of counts, each divided by its own total.

    Args:
        words: name and number of the colour of each kind.
        rows: counts by name and kind.
        of: what the totals count.
    """
    bars = []
    for name, counts in rows.items():
        total = sum(counts.values())
        texts = [f"{words[kind][0]} {formats.count(count)}" for kind, count in counts.items()]
        parts = [(words[kind], count / total if total else 0.0) for kind, count in counts.items()]
        bars.append(divided_bar(name, parts, texts, formats.count(total)))
    return DividedBars(
        identifier, title, note, tuple((series, kind) for kind, series in words.values()), tuple(bars), of
    )


def divided_bar(
    name: str, parts: Iterable[tuple[tuple[str, int], float]], texts: Sequence[str], total: str
) -> DividedBar:
    """Return a bar.

    Args:
        parts: name and number of the colour, and width as a fraction.
        texts: what each part says.
        total: what the whole bar says; may be empty.
    """
    segments, start = [], 0.0
    for ((_, series), width), text in zip(parts, texts, strict=True):
        segments.append(Segment(series, start, width, text))
        start += width
    return DividedBar(name, tuple(each for each in segments if each.width > 0), ", ".join(texts), total)


@dataclass(frozen=True, slots=True)
class PointMark:
    """A method in a chart.

    Attributes:
        is_leader: whether it is better than all before it.
        at: its date or number, as text.
        label: its name, shortened; empty if there is no room for it.
        label_x: where the label ends.
    """

    point: Point
    is_leader: bool
    at: str
    x: float
    y: float
    label: str
    label_x: float
    label_y: float


@dataclass(frozen=True, slots=True)
class FrontierChart:
    """A point for each method, and the best so far as a step line.

    Attributes:
        dots: an SVG path with a dot for each method.
        steps: an SVG path of the best so far.
        marks: the methods that are linked, and named where there is room; leaders are last, so that they are on top.
        since, until: the smallest and the largest date or number, as text.
        low, high: means at the lower and upper end, fractions.
        low_y, high_y: where these are.
    """

    size: "ChartSize"
    dots: str
    steps: str
    marks: tuple[PointMark, ...]
    since: str
    until: str
    low: float
    high: float
    low_y: float
    high_y: float


class ChartSize(NamedTuple):
    """Units of a drawing, about pixels, how many methods it names at most, and whether others than leaders."""

    width: int
    height: int
    names: int
    has_others: bool


SMALL = ChartSize(460, 96, 8, has_others=False)
WINDOWS = tuple(ChartSize(width, 320, MAX_NAMED, has_others=True) for width in (1180, 360))  # the second for phones


def date_text(seconds: float) -> str:
    """Return the date of an instant in seconds since 1970.

    >>> date_text(0)
    '1970-01-01'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def frontier_chart(
    frontier: Frontier, size: ChartSize, say: Callable[[float], str], *, is_logarithmic: bool = False
) -> FrontierChart | None:
    """Return the drawing of at least two methods; None for fewer.

    Args:
        say: returns a number of the frontier as text.
        is_logarithmic: whether the numbers have a logarithmic axis if all are positive.
    """
    numbers, means = frontier.numbers, frontier.means
    if len(means) < 2:
        return None
    low, high = float(means.min()), float(means.max())
    scaled = np.log10(numbers) if is_logarithmic and numbers[0] > 0 else numbers - numbers[0]
    duration, extent = float(scaled[-1] - scaled[0]) or 1.0, (high - low) or 1.0
    x = LEFT + (size.width - LEFT - RIGHT) * (scaled - scaled[0]) / duration
    y = size.height - BOTTOM - (size.height - TOP - BOTTOM) * (means - low) / extent
    across, down = (GRID * np.rint(each / GRID).astype(int) for each in (x, y))
    dots = np.unique(across * size.height + down)  # one number for each, which sorts ten times as fast as two
    placed, others = (
        [(one, round(float(x[one.number]), 1), round(float(y[one.number]), 1)) for one in points]
        for points in (frontier.leaders, frontier.others if size.has_others else ())
    )
    _, first_x, first_y = placed[0]
    steps = f"M{first_x} {first_y}" + "".join(f"H{right}V{down}" for _, right, down in placed[1:])
    return FrontierChart(
        size=size,
        dots="".join(f"M{dot // size.height} {dot % size.height}h0" for dot in dots.tolist()),
        steps=f"{steps}H{size.width - RIGHT}",
        marks=_labelled(placed, others, size, say),
        since=say(float(numbers[0])),
        until=say(float(numbers[-1])),
        low=low,
        high=high,
        low_y=size.height - BOTTOM,
        high_y=TOP,
    )


def _labelled(
    leaders: Sequence[tuple[Point, float, float]],
    others: Sequence[tuple[Point, float, float]],
    size: ChartSize,
    say: Callable[[float], str],
) -> tuple[PointMark, ...]:
    """Write names above and to the left of the points, the last first, wherever they cover no other name or line."""
    steps = [(x, end, y, above) for (_, x, y), (_, end, above) in pairwise(leaders)]
    taken: list[tuple[float, float, float]] = []  # left, right, baseline
    found = []
    for number, (point, x, y) in enumerate([*reversed(leaders), *reversed(others)]):
        name = point.method if len(point.method) <= MAX_LABEL_LENGTH else f"{point.method[: MAX_LABEL_LENGTH - 1]}…"
        width = LETTER * len(name)
        right = min(max(x + 3, LEFT + width), size.width - RIGHT)
        baseline = max(y - 5, LINE - 2)
        covers = any(
            right - width < other_right + LETTER and other_left < right + LETTER and abs(baseline - other) < LINE
            for other_left, other_right, other in taken
        ) or any(
            # A step: along its level, then up to the next one.
            (start < right and right - width < end and baseline - LINE < level < baseline + 2)
            or (right - width < end < right and above < baseline + 2 and baseline - LINE < level)
            for start, end, level, above in steps
        )
        if covers or len(taken) == size.names:
            name = ""
        else:
            taken.append((right - width, right, baseline))
        is_leader = number < len(leaders)
        found.append(PointMark(point, is_leader, say(point.at), x, y, name, round(right, 1), round(baseline, 1)))
    return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class ClassStrip:
    """The scores of all methods in one class.

    Attributes:
        dots: an SVG path with a dot for each method.
        median, best: fractions.
        median_x, best_x: units of the drawing.
        best_row: of the first method that has the best score, from 0.
        methods: how many have a score.
    """

    name: str
    dots: str
    median: float
    median_x: float
    best: float
    best_x: float
    best_row: int
    methods: int


@dataclass(frozen=True, slots=True)
class ClassStrips:
    """The scores of each class on one scale, the hardest class (by the median) first; without those without scores.

    Attributes:
        ticks: units of the drawing, and per cent as text.
    """

    ticks: tuple[tuple[float, str], ...]
    rows: tuple[ClassStrip, ...]


def class_strips(board: Board, metric: Metric) -> ClassStrips:
    """Return strips of what a leaderboard shows of a metric."""
    table = board.rows.tables[metric]
    known = [(name, table.scores[:, column]) for column, name in enumerate(board.classes, 1)]
    scored = [(name, scores, np.unique(scores[~np.isnan(scores)])) for name, scores in known]
    scale = Scale.over(float(end) for _, _, values in scored if len(values) for end in values[[0, -1]])

    def at(value: float) -> float:
        return round(STRIP_EDGE + (STRIP_WIDTH - 2 * STRIP_EDGE) * (value - scale.low) / (scale.high - scale.low), 1)

    found = []
    for name, scores, values in scored:
        if len(values):
            best_row = int(np.nanargmax(scores) if table.higher_is_better else np.nanargmin(scores))
            median = rounded_median(scores[~np.isnan(scores)].tolist(), board.decimals) or 0.0
            best = float(scores[best_row])
            places = dict.fromkeys(GRID * round(at(value) / GRID) for value in values.tolist())
            drawn = "".join(f"M{place} {STRIP_HEIGHT // 2}h0" for place in places)
            methods = int((~np.isnan(scores)).sum())
            found.append(ClassStrip(name, drawn, median, at(median), best, at(best), best_row, methods))
    found.sort(key=lambda one: one.median, reverse=not table.higher_is_better)
    return ClassStrips(tuple((at(tick), f"{100 * tick:.0f}") for tick in scale.ticks), tuple(found))
