"""Charts on pages: curves, strips of dots, divided bars, and progress over time. All are SVG that the server draws."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
from markupsafe import Markup

from vocboard.app.evaluations.eleven_points import GRID as ELEVEN
from vocboard.app.evaluations.visible import VisibleCurve
from vocboard.app.leaderboards.board import Cell
from vocboard.app.leaderboards.progress import Progress, RecordHolder
from vocboard.app.pages import formats
from vocboard.app.pages.wording import AXES
from vocboard.evaluator.names import CurveKind
from vocboard.evaluator.plots import LARGE, TINY, Line, plot

READING_DECIMALS = 3  # of fractions

# Strips of dots.
STEPS_OF_SCALE = (0.01, 0.02, 0.05, 0.1, 0.2)
MAX_TICKS = 7
APART = 0.012  # of the strip: dots that are closer are moved up and down
SHIFT = 7  # pixels up or down

# Progress.
WIDTH, HEIGHT = 460, 96  # units of the drawing, about pixels
LEFT, RIGHT, TOP, BOTTOM = 34, 8, 15, 17  # margins, with the labels of the axes
LETTER, LINE = 8, 13  # about the width of a letter of a label, and the height of its line
MAX_LABEL_LENGTH = 18  # letters
MAX_LABELS = 8
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
class RecordMark:
    """A method that was the best when it was submitted.

    Attributes:
        label: its name, shortened; empty if there is no room for it.
        label_x: where the label ends.
    """

    holder: RecordHolder
    x: float
    y: float
    label: str
    label_x: float
    label_y: float


@dataclass(frozen=True, slots=True)
class ProgressChart:
    """Progress over time: a point for each method, and the best so far as a step line.

    Attributes:
        dots: an SVG path with a dot for each method.
        steps: an SVG path of the best so far.
        low, high: means at the lower and upper end, fractions.
        low_y, high_y: where these are.
    """

    dots: str
    steps: str
    records: tuple[RecordMark, ...]
    since: datetime
    until: datetime
    low: float
    high: float
    low_y: float
    high_y: float
    width: int = WIDTH
    height: int = HEIGHT


def progress_chart(progress: Progress) -> ProgressChart | None:
    """Return the drawing of at least two methods; None for fewer."""
    seconds, means, records = progress.seconds, progress.means, progress.records
    if len(means) < 2:
        return None
    low, high = float(means.min()), float(means.max())
    duration, extent = float(seconds[-1] - seconds[0]) or 1.0, (high - low) or 1.0
    x = LEFT + (WIDTH - LEFT - RIGHT) * (seconds - seconds[0]) / duration
    y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (means - low) / extent
    across, down = (GRID * np.rint(each / GRID).astype(int) for each in (x, y))
    dots = np.unique(across * HEIGHT + down)  # one number for each, which sorts ten times as fast as two
    placed = [(record, round(float(x[record.number]), 1), round(float(y[record.number]), 1)) for record in records]
    _, first_x, first_y = placed[0]
    steps = f"M{first_x} {first_y}" + "".join(f"H{right}V{down}" for _, right, down in placed[1:])
    return ProgressChart(
        dots="".join(f"M{dot // HEIGHT} {dot % HEIGHT}h0" for dot in dots.tolist()),
        steps=f"{steps}H{WIDTH - RIGHT}",
        records=_labelled(placed),
        since=datetime.fromtimestamp(seconds[0], UTC),
        until=datetime.fromtimestamp(seconds[-1], UTC),
        low=low,
        high=high,
        low_y=HEIGHT - BOTTOM,
        high_y=TOP,
    )


def _labelled(records: Sequence[tuple[RecordHolder, float, float]]) -> tuple[RecordMark, ...]:
    """Write names above and to the left of the points, the latest first, wherever they cover no other name or line."""
    steps = [(x, end, y, above) for (_, x, y), (_, end, above) in pairwise(records)]
    taken: list[tuple[float, float, float]] = []  # left, right, baseline
    found = []
    for holder, x, y in reversed(records):
        name = holder.method if len(holder.method) <= MAX_LABEL_LENGTH else f"{holder.method[: MAX_LABEL_LENGTH - 1]}…"
        width = LETTER * len(name)
        right = min(max(x + 3, LEFT + width), WIDTH - RIGHT)
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
        if covers or len(taken) == MAX_LABELS:
            name = ""
        else:
            taken.append((right - width, right, baseline))
        found.append(RecordMark(holder, x, y, name, round(right, 1), round(baseline, 1)))
    return tuple(reversed(found))
