"""The drawing of a leaderboard's progress over time: a point for each method, and the best so far as a step line."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from vocboard.app.leaderboards.progress import Point

WIDTH, HEIGHT = 460, 96  # units of the drawing, about pixels
LEFT, RIGHT, TOP, BOTTOM = 34, 8, 15, 14  # margins, with the labels of the axes
LETTER, LINE = 5.9, 13  # about the width of a letter of a label, and the height of its line
LONGEST_LABEL = 18  # letters
MOST_LABELS = 8
GRID = 2  # points that are closer than this are drawn once


@dataclass(frozen=True, slots=True)
class Record:
    """A method that was the best when it was submitted.

    Attributes:
        label: its name, shortened; empty if there is no room for it.
        label_x: where the label ends.
    """

    point: Point
    x: float
    y: float
    label: str
    label_x: float
    label_y: float


@dataclass(frozen=True, slots=True)
class Chart:
    """What is drawn.

    Attributes:
        dots: an SVG path with a dot for each method.
        steps: an SVG path of the best so far.
        low, high: means at the lower and upper end, fractions.
        low_y, high_y: where these are.
    """

    dots: str
    steps: str
    records: tuple[Record, ...]
    since: datetime
    until: datetime
    low: float
    high: float
    low_y: float
    high_y: float
    width: int = WIDTH
    height: int = HEIGHT


def chart(points: Sequence[Point]) -> Chart | None:
    """Return the drawing of at least two methods; None for fewer."""
    if len(points) < 2:
        return None
    since, until = points[0].submitted_at, points[-1].submitted_at
    duration = max(until - since, timedelta(seconds=1))
    means = [point.mean for point in points]
    low, high = min(means), max(means)
    extent = (high - low) or 1.0

    def x(point: Point) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * ((point.submitted_at - since) / duration), 1)

    def y(point: Point) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * ((point.mean - low) / extent), 1)

    grid = dict.fromkeys((GRID * round(x(point) / GRID), GRID * round(y(point) / GRID)) for point in points)
    records = [point for point in points if point.is_record]
    steps = f"M{x(records[0])} {y(records[0])}" + "".join(f"H{x(point)}V{y(point)}" for point in records[1:])
    return Chart(
        dots="".join(f"M{right} {down}h0" for right, down in grid),
        steps=f"{steps}H{WIDTH - RIGHT}",
        records=_labelled([(point, x(point), y(point)) for point in records]),
        since=since,
        until=until,
        low=low,
        high=high,
        low_y=HEIGHT - BOTTOM,
        high_y=TOP,
    )


def _labelled(records: Sequence[tuple[Point, float, float]]) -> tuple[Record, ...]:
    """Write names above and to the left of the points, the latest first, wherever they cover no other name."""
    taken: list[tuple[float, float, float]] = []  # left, right, baseline
    found = []
    for point, x, y in reversed(records):
        name = point.method if len(point.method) <= LONGEST_LABEL else f"{point.method[: LONGEST_LABEL - 1]}…"
        width = LETTER * len(name)
        right = min(max(x + 3, LEFT + width), WIDTH - RIGHT)
        baseline = max(y - 5, LINE - 2)
        covers = any(
            right - width < other_right + LETTER and other_left < right + LETTER and abs(baseline - other) < LINE
            for other_left, other_right, other in taken
        )
        if covers or len(taken) == MOST_LABELS:
            name = ""
        else:
            taken.append((right - width, right, baseline))
        found.append(Record(point, x, y, name, round(right, 1), round(baseline, 1)))
    return tuple(reversed(found))
