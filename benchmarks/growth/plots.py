"""Plots of growth: `python -m benchmarks.growth.plots FIGURES.json DIRECTORY` writes one SVG for each.

Both axes are logarithmic, so that what is linear rises at the angle of the dashed line.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.growth import GROWTHS, Growth

INK = "#808080"  # legible on white and on black
COLOURS = ("#3b82f6", "#f59e0b", "#10b981", "#a855f7")
INCHES = (6.4, 3.8)


def main() -> None:
    """Draw every growth that was measured."""
    figures, directory = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    for name, measured in figures.items():
        draw(GROWTHS[name], {int(number): each for number, each in measured.items()}, directory / f"growth-{name}.svg")


def draw(growth: Growth, measured: Mapping[int, Mapping[str, float]], path: Path) -> None:
    """Write one plot."""
    import matplotlib as mpl  # noqa: PLC0415  # of the group `plots`: see benchmarks/peers.py

    mpl.use("svg")
    mpl.rcParams.update(
        dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK)
        | {"svg.fonttype": "none", "svg.hashsalt": "vocboard", "font.family": "sans-serif", "font.size": 10}
    )
    from matplotlib import pyplot, ticker  # noqa: PLC0415

    figure, axes = pyplot.subplots(figsize=INCHES, layout="constrained")
    numbers = list(measured)
    for colour, (series, label) in zip(COLOURS, growth.plotted.items(), strict=False):
        axes.plot(numbers, [measured[number][series] for number in numbers], "o-", color=colour, label=label)
    last = [measured[numbers[-1]][series] for series in growth.plotted]
    axes.plot(numbers, _linear(numbers, max(last)), "--", color=INK, linewidth=1, label="linear")
    axes.set(xscale="log", yscale="log", xlabel=growth.raised, ylabel=growth.axis)
    axes.set_xticks(numbers, [f"{number:,}" for number in numbers])
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.12g}")
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_title(growth.title, loc="left", fontweight="bold")
    axes.grid(color=INK, alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, transparent=True, metadata={"Date": None})
    pyplot.close(figure)
    print(path)


def _linear(numbers: Sequence[int], last: float) -> list[float]:
    """Values in proportion to the numbers that end at `last`."""
    return [last * number / numbers[-1] for number in numbers]


if __name__ == "__main__":
    main()
