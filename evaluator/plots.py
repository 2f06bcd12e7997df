"""Plots as SVG: curves in the unit square, and bars. Pages, reports and files draw with nothing else.

A plot has a title and a description for screen readers. Its colours come from the style sheet around it, so that a page
has it in a light and in a dark theme.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

COLOURS = 6
FINENESS = 0.005  # of drawn points, fractions: about three units of the largest plot
_FEW_POINTS = 11  # of a curve: each is marked
_DASH = 9  # units: of lines that lie on each other, each shows through the gaps of the others
_SECOND_DASH = "7 4"  # of the second six lines, which have the colours of the first
_FILE_STYLE = (
    "text{font:13px sans-serif;fill:#14211f}svg svg text{font-size:9px}.soft{fill:#4d5c58}.value{fill:#0a5f63}"
    ".back{fill:#fff}.frame,.grid{fill:none;stroke:#d3dbd7}"
    "polyline,.marks{fill:none;stroke:#0a5f63;stroke-width:1.5;stroke-linejoin:round}"
    ".marks{stroke-width:4;stroke-linecap:round}"
)
BAR_ROW, BARS_WIDTH = 17, 420  # units: height of a bar with its margin, width of bars with names and values
_NAMES, _BARS = 150, 230  # units: width of the names, longest bar

Points = NDArray[np.float64]
_Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """A curve: (n,) fractions from left to right; undefined points are left out.

    Attributes:
        name: of its tooltip.
        series: number of its colour.
    """

    name: str
    x: Points
    y: Points
    series: int = 0

    @classmethod
    def through(cls, name: str, points: Iterable[_Point], series: int = 0) -> "Line":
        """Return the line through some points."""
        x, y = np.array(list(points), dtype=float).reshape(-1, 2).T
        return cls(name, x, y, series)

    def height(self, at: float) -> float | None:
        """Return where the drawn line is at one x, at its upper end if it is vertical there; None outside of the line.

        >>> Line.through("", [(0.0, 0.8), (0.5, 0.8), (0.5, 0.4)]).height(0.5)
        0.8
        """
        here = np.abs(self.x - at) < 1e-9
        if here.any():
            return float(self.y[here].max())
        if not len(self.x) or not self.x[0] < at < self.x[-1]:
            return None
        return float(np.interp(at, self.x, self.y))


@dataclass(frozen=True, slots=True)
class Frame:
    """Sizes of a plot in units, about pixels.

    Attributes:
        width, height: of all of it.
        left, top, right, bottom: margins around the unit square.
        ticks: fractions with a line of the grid.
        has_labels: whether the ticks are labelled, in per cent, and the axes named.
        line: height of a line of text.
    """

    width: float
    height: float
    left: float = 0
    top: float = 0
    right: float = 0
    bottom: float = 0
    ticks: tuple[float, ...] = (0.5,)
    has_labels: bool = False
    line: float = 12

    def x(self, value: float) -> float:
        """Return where a fraction is from the left."""
        return round(self.left + (self.width - self.left - self.right) * value, 1)

    def y(self, value: float) -> float:
        """Return where a fraction is from the top."""
        return round(self.height - self.bottom - (self.height - self.top - self.bottom) * value, 1)


LARGE = Frame(640, 440, 60, 12, 20, 44, ticks=(0, 0.2, 0.4, 0.6, 0.8, 1), has_labels=True, line=16)
SMALL = Frame(204, 190, 44, 8, 10, 32, ticks=(0, 0.5, 1), has_labels=True)
TINY = Frame(100, 100)  # of one of many, beside its name


def plot(
    lines: Sequence[Line],
    title: str,
    axes: tuple[str, str],
    frame: Frame = SMALL,
    *,
    readings: Sequence[float] = (),
    attributes: str = "",
) -> str:
    """Return the SVG of some curves. Where lines lie on each other, they are dashed in turn, so that all are seen.

    Args:
        axes: names of the axes, the horizontal one first.
        readings: x at which a vertical rule reads all lines, as a tooltip.
        attributes: of the SVG element.
    """
    names = ", ".join(line.name for line in lines)
    parts = [f"<title>{escape(title)}</title><desc>{escape(f'{axes[1]} over {axes[0]}: {names}')}</desc>"]
    left, right, top, bottom = frame.x(0), frame.x(1), frame.y(1), frame.y(0)
    for tick in frame.ticks:
        x, y = frame.x(tick), frame.y(tick)
        parts.append(f'<path class="grid" d="M{x:g} {top:g}V{bottom:g}M{left:g} {y:g}H{right:g}"/>')
        if frame.has_labels:
            text = f"{100 * tick:.0f}"
            parts.append(f'<text x="{x:g}" y="{bottom + frame.line:g}" text-anchor="middle">{text}</text>')
            parts.append(f'<text x="{left - 6:g}" y="{y + 4:g}" text-anchor="end">{text}</text>')
    if frame.has_labels:
        across, up = (f"{escape(name)}, %" for name in axes)
        middle_x, middle_y = frame.x(0.5), frame.y(0.5)
        parts.append(
            f'<text x="{middle_x:g}" y="{frame.height - frame.line / 2:g}" text-anchor="middle">{across}</text>'
        )
        parts.append(f'<text transform="translate(14 {middle_y:g}) rotate(-90)" text-anchor="middle">{up}</text>')
    parts += _readings(lines, axes[0], readings, frame)
    parts += _drawn(lines, frame)
    size = f"0 0 {frame.width:g} {frame.height:g}"
    return f'<svg viewBox="{size}" role="img"{attributes and " " + attributes}>{"".join(parts)}</svg>'


def plot_file(lines: Sequence[Line], title: str, axes: tuple[str, str]) -> str:
    """Return a small plot at twice its size as the text of an SVG file, with its title above; arguments as `plot`."""
    width, height, top = 2 * SMALL.width, 2 * SMALL.height, 28
    head = f'<text x="{2 * SMALL.x(0.5):g}" y="{top - 6}" text-anchor="middle">{escape(title)}</text>'
    size = f'y="{top}" width="{width:g}" height="{height:g}"'
    return svg_file(width, height + top, title, [head, plot(lines, title, axes, attributes=size)])


def svg_file(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """Return the text of an SVG file, on white for papers."""
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    head = f'<style>{_FILE_STYLE}</style><rect class="back" width="{width:g}" height="{height:g}"/>'
    attributes = f'xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(title)}"'
    return f"<svg {attributes}>{head}{''.join(parts)}</svg>\n"


def _readings(lines: Sequence[Line], x_name: str, readings: Sequence[float], frame: Frame) -> Iterable[str]:
    edges = [0.0, *((one + other) / 2 for one, other in pairwise(readings)), 1.0]
    for at, (low, high) in zip(readings, pairwise(edges), strict=False):
        heights = [(line.name, line.height(at)) for line in lines]
        said = [f"{name} {100 * height:.1f} %" for name, height in heights if height is not None]
        text = "\n".join([f"{x_name} {100 * at:.0f} %", *said])
        left, width, top, height = frame.x(low), frame.x(high) - frame.x(low), frame.y(1), frame.y(0) - frame.y(1)
        yield (
            f'<g class="reading"><title>{escape(text)}</title>'
            f'<rect x="{left:g}" y="{top:g}" width="{width:.1f}" height="{height:g}"/>'
            f'<path d="M{frame.x(at):g} {top:g}v{height:g}"/></g>'
        )


def _drawn(lines: Sequence[Line], frame: Frame) -> Iterable[str]:
    points = [_rounded(line) for line in lines]
    on_segment: dict[tuple[_Point, _Point], dict[int, None]] = {}
    at_point: dict[_Point, set[int]] = {}
    for number, found in enumerate(points):
        for segment in pairwise(found):
            on_segment.setdefault(segment, {})[number] = None
        for point in found:
            at_point.setdefault(point, set()).add(number)
    for number, (line, found) in enumerate(zip(lines, points, strict=True)):
        runs = groupby(pairwise(found), key=lambda segment: tuple(on_segment[segment]))
        pieces = [_piece(line.series, group.index(number), len(group), list(run), frame) for group, run in runs]
        alone = [point for point in found if len(at_point[point]) == 1] if len(found) <= _FEW_POINTS else []
        dots = "".join(f"M{frame.x(x):g} {frame.y(y):g}h0" for x, y in alone) if frame.has_labels else ""
        marks = f'<path class="marks" d="{dots}"/>' if dots else ""
        yield f'<g class="s{line.series}"><title>{escape(line.name)}</title>{"".join(pieces)}{marks}</g>'


def _rounded(line: Line) -> list[_Point]:
    defined = ~(np.isnan(line.x) | np.isnan(line.y))
    points = np.rint(np.column_stack([line.x[defined], line.y[defined]]) / FINENESS) * FINENESS
    differs = np.concatenate([[True], (np.diff(points, axis=0) != 0).any(axis=1)])[: len(points)]
    return [(x, y) for x, y in points[differs].tolist()]


def _piece(series: int, place: int, count: int, run: Sequence[tuple[_Point, _Point]], frame: Frame) -> str:
    points = [run[0][0], *(end for _, end in run)]
    text = " ".join(f"{frame.x(x):g},{frame.y(y):g}" for x, y in points)
    dash = ""
    if count > 1:
        dash = f' stroke-dasharray="{_DASH} {_DASH * (count - 1)}" stroke-dashoffset="{-_DASH * place}"'
    elif series >= COLOURS:
        dash = f' stroke-dasharray="{_SECOND_DASH}"'
    return f'<polyline points="{text}"{dash}/>'


def bars(
    values: Mapping[str, float | None],
    title: str,
    *,
    full: float | None = None,
    decimals: int = 1,
    attributes: str = 'class="bars"',
) -> str:
    """Return the SVG of horizontal bars, one below the other, with their values; negative ones have no length.

    Args:
        values: None where undefined.
        full: the value of the longest possible bar, whose frame is drawn; by default the largest value.
        decimals: of the values.
        attributes: of the SVG element.
    """
    longest = full or max((*(value for value in values.values() if value is not None), 1e-9))
    rows = []
    for place, (name, value) in enumerate(values.items()):
        y = BAR_ROW * place
        length = _BARS * min(max(value or 0.0, 0.0) / longest, 1.0)
        end, text = _BARS if full else length, "n/a" if value is None else f"{value:.{decimals}f}"
        size = f'x="{_NAMES}" y="{y + 3}" height="{BAR_ROW - 6}"'
        rows += [
            f'<text x="{_NAMES - 6}" y="{y + 12}" text-anchor="end">{escape(name)}</text>',
            f'<rect class="frame" {size} width="{_BARS}"/>' if full else "",
            f'<rect class="value" {size} width="{length:.1f}"/>',
            f'<text x="{_NAMES + end + 4:.1f}" y="{y + 12}">{text}</text>',
        ]
    size = f"0 0 {BARS_WIDTH} {BAR_ROW * len(values)}"
    return f'<svg {attributes} viewBox="{size}" role="img" aria-label="{escape(title)}">{"".join(rows)}</svg>'


def shares(rows: Mapping[str, Mapping[str, int]]) -> str:
    """Return a legend and the SVG of a bar for each row, divided by the counts of each kind."""
    kinds = list(dict.fromkeys(kind for counts in rows.values() for kind in counts))
    keys = "".join(f'<span class="key kind{place}">{escape(kind)}</span>' for place, kind in enumerate(kinds))
    drawn = []
    for row, (name, counts) in enumerate(rows.items()):
        total, x = sum(counts.values()), float(_NAMES)
        y = BAR_ROW * row
        drawn.append(f'<text x="{_NAMES - 6}" y="{y + 12}" text-anchor="end">{escape(name)}</text>')
        for place, kind in enumerate(kinds):
            width = _BARS * counts.get(kind, 0) / total if total else 0.0
            label = f"{name}: {counts.get(kind, 0):,} {kind}"
            drawn.append(
                f'<rect class="kind{place}" x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="{BAR_ROW - 6}">'
                f"<title>{escape(label)}</title></rect>"
            )
            x += width
        drawn.append(f'<text x="{_NAMES + _BARS + 4}" y="{y + 12}">{total:,}</text>')
    size = f"0 0 {BARS_WIDTH} {BAR_ROW * len(rows)}"
    names = escape(", ".join(kinds))
    return f'<p>{keys}</p><svg class="bars" viewBox="{size}" role="img" aria-label="{names}">{"".join(drawn)}</svg>'
