"""Small plots in SVG with the colours of the page."""

from collections.abc import Mapping
from html import escape

import numpy as np
from numpy.typing import NDArray

_WIDTH, _HEIGHT, _LEFT, _TOP, _SIDE = (
    204,
    190,
    44,
    8,
    150,
)  # pixels: of the plot, left and top margin, side of the frame
_SCALE = 2  # of a plot in a file of its own
_FILE_STYLE = (
    "svg{background:#fff;font-family:sans-serif} rect,path{fill:none;stroke:#c8ccd2} "
    "polyline{fill:none;stroke:#2f6fb7;stroke-width:1.5} text{font-size:9px;fill:#222}"
)
_MAX_POINTS = 300
_ROW, _NAMES, _BARS = 17, 150, 230  # pixels: height of a bar with its margin, width of the names, longest bar

Points = NDArray[np.float64]


def plot(x: Points, y: Points, title: str, x_name: str, y_name: str) -> str:
    """Return the SVG of a curve in the unit square; undefined points are left out.

    Long curves are reduced to the first, last, lowest and highest point within each pixel, so that they look the same.
    """
    is_defined = ~(np.isnan(x) | np.isnan(y))
    points = _thinned(x[is_defined], y[is_defined])
    path = " ".join(f"{_LEFT + _SIDE * a:.1f},{_TOP + _SIDE * (1 - b):.1f}" for a, b in points)
    ticks = "".join(
        f'<text x="{_LEFT + _SIDE * v}" y="{_TOP + _SIDE + 12}" text-anchor="middle">{v:g}</text>'
        f'<text x="{_LEFT - 4}" y="{_TOP + _SIDE * (1 - v) + 3}" text-anchor="end">{v:g}</text>'
        for v in (0, 0.5, 1)
    )
    label = f"{title}: {y_name} over {x_name}"
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(label)}">'
        f'<rect x="{_LEFT}" y="{_TOP}" width="{_SIDE}" height="{_SIDE}"/>'
        f'<path d="M{_LEFT},{_TOP + _SIDE / 2}h{_SIDE}M{_LEFT + _SIDE / 2},{_TOP}v{_SIDE}"/>'
        f'<polyline points="{path}"/>{ticks}'
        f'<text x="{_LEFT + _SIDE / 2}" y="{_HEIGHT - 4}" text-anchor="middle">{escape(x_name)}</text>'
        f'<text transform="translate(11,{_TOP + _SIDE / 2})rotate(-90)" text-anchor="middle">{escape(y_name)}</text>'
        "</svg>"
    )


def plot_file(x: Points, y: Points, title: str, x_name: str, y_name: str) -> str:
    """Return a plot as the text of an SVG file, with its title above; arguments as `plot`."""
    content = plot(x, y, title, x_name, y_name).split(">", 1)[1]
    height = _HEIGHT + 14
    size = f'width="{_SCALE * _WIDTH}" height="{_SCALE * height}" viewBox="0 -14 {_WIDTH} {height}"'
    head = f'<text x="{_LEFT + _SIDE / 2}" y="-1" text-anchor="middle">{escape(title)}</text>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{_FILE_STYLE}</style>{head}{content}\n'


def bars(values: Mapping[str, float], title: str) -> str:
    """Return the SVG of horizontal bars, one below the other, with their values; negative ones have no length."""
    longest = max((*values.values(), 1e-9))
    rows = []
    for place, (name, value) in enumerate(values.items()):
        y = _ROW * place
        length = _BARS * max(value, 0.0) / longest
        rows.append(
            f'<text x="{_NAMES - 6}" y="{y + 12}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="value" x="{_NAMES}" y="{y + 3}" width="{length:.1f}" height="{_ROW - 6}"/>'
            f'<text x="{_NAMES + length + 4:.1f}" y="{y + 12}">{value:.1f}</text>'
        )
    size = f"0 0 {_NAMES + _BARS + 40} {_ROW * len(values)}"
    return f'<svg class="bars" viewBox="{size}" role="img" aria-label="{escape(title)}">{"".join(rows)}</svg>'


def shares(rows: Mapping[str, Mapping[str, int]]) -> str:
    """Return a legend and the SVG of a bar for each row, divided by the counts of each kind."""
    kinds = list(dict.fromkeys(kind for counts in rows.values() for kind in counts))
    keys = "".join(f'<span class="key kind{place}">{escape(kind)}</span>' for place, kind in enumerate(kinds))
    drawn = []
    for row, (name, counts) in enumerate(rows.items()):
        total, x = sum(counts.values()), float(_NAMES)
        y = _ROW * row
        drawn.append(f'<text x="{_NAMES - 6}" y="{y + 12}" text-anchor="end">{escape(name)}</text>')
        for place, kind in enumerate(kinds):
            width = _BARS * counts.get(kind, 0) / total if total else 0.0
            label = f"{name}: {counts.get(kind, 0):,} {kind}"
            drawn.append(
                f'<rect class="kind{place}" x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="{_ROW - 6}">'
                f"<title>{escape(label)}</title></rect>"
            )
            x += width
        drawn.append(f'<text x="{_NAMES + _BARS + 4}" y="{y + 12}">{total:,}</text>')
    size = f"0 0 {_NAMES + _BARS + 40} {_ROW * len(rows)}"
    names = escape(", ".join(kinds))
    return f'<p>{keys}</p><svg class="bars" viewBox="{size}" role="img" aria-label="{names}">{"".join(drawn)}</svg>'


def _thinned(x: Points, y: Points) -> list[tuple[float, float]]:
    if len(x) <= _MAX_POINTS:
        return list(zip(x.tolist(), y.tolist(), strict=True))
    bins = np.minimum((x * (_MAX_POINTS // 2)).astype(int), _MAX_POINTS // 2)
    points: list[tuple[float, float]] = []
    for start, end in zip(*_runs(bins), strict=True):
        least, most = start + int(np.argmin(y[start:end])), start + int(np.argmax(y[start:end]))
        points += [(float(x[place]), float(y[place])) for place in sorted({start, least, most, end - 1})]
    return points


def _runs(values: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    edges = np.flatnonzero(np.diff(values)) + 1
    return [0, *edges.tolist()], [*edges.tolist(), len(values)]
