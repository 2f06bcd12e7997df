"""Drawings of a comparison: dots of scores in a strip for each class, and curves of one class in one plot."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from vocboard.app.leaderboards.board import Cell

PLOT_WIDTH, PLOT_HEIGHT = 640, 440  # units of the drawing of curves
LEFT, RIGHT, TOP, BOTTOM = 52, 20, 12, 44
STEPS_OF_SCALE = (0.05, 0.1, 0.2)
MAX_TICKS = 7
APART = 0.012  # of the strip: dots that are closer are moved up and down
SHIFT = 7  # pixels up or down
DASH = 9  # units: of lines that lie on each other, each shows through the gaps of the others
SECOND_DASH = "7 4"  # of the second six methods, which have the colours of the first
COLOURS = 6
FINENESS = 0.005  # of drawn curves, fractions: about three units


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of the strips: fractions at its ends, and in between."""

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def over(cls, values: Sequence[float]) -> "Scale":
        """Return a scale with round ends that holds all values; from 0 to 1 if there are none."""
        if not values:
            values = (0.0, 1.0)
        for step in STEPS_OF_SCALE:
            first, last = int(min(values) // step), int(-(-max(values) // step))
            if last - first < MAX_TICKS:
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
class Piece:
    """A piece of a line that lies on the same other lines all along, or on none.

    Attributes:
        points: for an SVG polyline.
        dash, offset: of the stroke; an empty dash for a whole line.
    """

    points: str
    dash: str
    offset: int


@dataclass(frozen=True, slots=True)
class Line:
    """The curve of one method.

    Attributes:
        series: its number among those that are compared.
        marks: an SVG path with a dot at each point that no other line has; empty if there are many points.
    """

    series: int
    pieces: tuple[Piece, ...]
    marks: str


_Point = tuple[float, float]


def lines(curves: Mapping[int, Sequence[_Point]], few: int = 11) -> list[Line]:
    """Return the lines of curves by series. Where some lie on each other, they are dashed in turn: all are seen.

    Args:
        curves: points from left to right, fractions.
        few: up to so many points are marked.
    """
    drawn = {
        series: list(dict.fromkeys((_x(_coarse(x)), _y(_coarse(y))) for x, y in points))
        for series, points in curves.items()
    }
    on_segment: defaultdict[tuple[_Point, _Point], list[int]] = defaultdict(list)
    at_point: defaultdict[_Point, int] = defaultdict(int)
    for series, points in drawn.items():
        for segment in pairwise(points):
            on_segment[segment].append(series)
        for point in points:
            at_point[point] += 1
    found = []
    for series, points in drawn.items():
        alone = [point for point in points if at_point[point] == 1]
        marks = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in alone) if len(points) <= few else ""
        runs = groupby(pairwise(points), key=lambda segment: tuple(on_segment[segment]))
        pieces = tuple(_piece(series, group, list(segments)) for group, segments in runs)
        found.append(Line(series, pieces, marks))
    return found


def _piece(series: int, group: Sequence[int], segments: Sequence[tuple[_Point, _Point]]) -> Piece:
    points = [segments[0][0], *(end for _, end in segments)]
    text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    if len(group) > 1:
        return Piece(text, f"{DASH} {DASH * (len(group) - 1)}", -DASH * group.index(series))
    return Piece(text, SECOND_DASH if series >= COLOURS else "", 0)


def _coarse(value: float) -> float:
    return FINENESS * round(value / FINENESS)


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the plot's grid: its label, and where it is."""

    label: str
    x: float
    y: float


def grid() -> list[Tick]:
    """Return the grid of a plot from 0 to 100 per cent, the same for both axes."""
    return [Tick(f"{20 * number}", _x(number / 5), _y(number / 5)) for number in range(6)]


def _x(value: float) -> float:
    return round(LEFT + (PLOT_WIDTH - LEFT - RIGHT) * value, 1)


def _y(value: float) -> float:
    return round(PLOT_HEIGHT - BOTTOM - (PLOT_HEIGHT - TOP - BOTTOM) * value, 1)
