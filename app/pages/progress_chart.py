"""The drawing of a leaderboard's progress over time: a point for each method, and the best so far as a step line."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np

from vocboard.app.leaderboards.progress import Progress, RecordHolder

WIDTH, HEIGHT = 460, 96  # units of the drawing, about pixels
LEFT, RIGHT, TOP, BOTTOM = 34, 8, 15, 17  # margins, with the labels of the axes
LETTER, LINE = 8, 13  # about the width of a letter of a label, and the height of its line
MAX_LABEL_LENGTH = 18  # letters
MAX_LABELS = 8
GRID = 2  # points that are closer than this are drawn once


@dataclass(frozen=True, slots=True)
class Record:
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


def chart(progress: Progress) -> Chart | None:
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
    return Chart(
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


def _labelled(records: Sequence[tuple[RecordHolder, float, float]]) -> tuple[Record, ...]:
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
        found.append(Record(holder, x, y, name, round(right, 1), round(baseline, 1)))
    return tuple(reversed(found))
