"""How cost grows: with the number of detections, of published methods, and of workers.

Each is a number that is raised, and what is measured with each: `measure(number, rounds, cache)` returns it by name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.growth import detections, methods, workers

Measure = Callable[[int, int, Path], Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Growth:
    """The varied quantity, and the measured one.

    Attributes:
        raised: what `numbers` are of.
        axis: what the plotted are in.
        plotted: which of the measured are drawn, and what the plot calls them.
    """

    name: str
    title: str
    raised: str
    axis: str
    numbers: tuple[int, ...]
    measure: Measure
    plotted: Mapping[str, str]


GROWTHS: Mapping[str, Growth] = {
    growth.name: growth
    for growth in (
        Growth(
            "detections",
            "Scoring detections",
            "detections",
            "seconds",
            detections.NUMBERS,
            detections.measure,
            {"s": "on the clock", "s of processor": "of processors"},
        ),
        Growth(
            "methods",
            "A leaderboard of 20 classes, to the end of the answer",
            "published methods",
            "milliseconds",
            methods.NUMBERS,
            methods.measure,
            {
                "page": "page, first",
                "page again": "page, nothing changed",
                "JSON": "JSON, first",
                "JSON again": "JSON, nothing changed",
            },
        ),
        Growth(
            "workers",
            "Waiting submissions of VOC2007's size",
            "worker processes",
            "scored a second",
            workers.NUMBERS,
            workers.measure,
            {"scored a second": "vocboard"},
        ),
    )
}
