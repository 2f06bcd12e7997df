"""Drawings of how a challenge has gone; all are SVG in per cent of their size, so text beside them keeps its size."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from vocboard.app.challenges.phases import Phase
from vocboard.app.organising.history import History, Outcome, Steps, quantile
from vocboard.app.pages.wording import OUTCOMES

GAP = 0.15  # between bars, of a step
MIN_HEIGHT = 3.0  # per cent, so that one among thousands can be seen
MAX_TICKS = 6  # of time
# Ends of what is counted together, in seconds.
DURATIONS = (
    (10, "under 10 s"),
    (60, "10 to 60 s"),
    (600, "1 to 10 min"),
    (3600, "10 to 60 min"),
    (86_400, "1 to 24 h"),
)
LONGER = "over a day"


class Bar(NamedTuple):
    """A rectangle, in per cent of the drawing; `text` is what it stands for."""

    kind: str
    x: float
    y: float
    width: float
    height: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class TimeRow:
    """Bars over time: of one phase, or of people.

    Attributes:
        parts: kind, name and total of each part of the bars, from below.
        peak: the largest bar.
        dates: where a phase opens and closes, in per cent.
        counts: of each step, by part.
    """

    title: str
    total: int
    parts: tuple[tuple[str, str, int], ...]
    peak: int
    bars: tuple[Bar, ...]
    dates: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class TimeChart:
    """Rows on one time axis.

    Attributes:
        unit: what a bar stands for.
        ticks: where years or months begin, in per cent, and their name.
        begins: of each step.
    """

    unit: str
    ticks: tuple[tuple[float, str], ...]
    begins: tuple[datetime, ...]
    rows: tuple[TimeRow, ...]


def time_chart(found: History) -> TimeChart:
    """Return submissions to each phase, and people."""
    steps = found.steps
    rows = [
        _time_row(
            one.phase.title or "Submissions",
            steps,
            [(kind.value, OUTCOMES[kind], one.counts[kind]) for kind in Outcome if kind in one.counts],
            _dates(one.phase, steps),
            peak=max(max(map(sum, zip(*each.counts.values(), strict=True))) for each in found.phases),
        )
        for one in found.phases
    ]
    people = [("scored", "for the first time", found.newcomers), ("removed", "again", found.returning)]
    rows.append(_time_row("People", steps, people))
    days = steps.length.days
    unit = {1: "a day", 7: "a week"}.get(days, f"{days // 7} weeks")
    begins = tuple(steps.begin(number) for number in range(steps.count))
    return TimeChart(unit, _ticks(begins, days), begins, tuple(rows))


def _time_row(
    title: str,
    steps: Steps,
    parts: Sequence[tuple[str, str, Sequence[int]]],
    dates: tuple[float, ...] = (),
    peak: int = 0,
) -> TimeRow:
    counts = tuple(zip(*(numbers for _, _, numbers in parts), strict=True))
    peak = peak or max(map(sum, counts))
    bars = []
    for number, each in enumerate(counts):
        top = 100.0
        begin = steps.begin(number)
        text = f"{begin.day} {begin:%b %Y}: " + ", ".join(
            f"{count} {name.lower()}" for (_, name, _), count in zip(parts, each, strict=True) if count
        )
        for (kind, _, _), count in zip(parts, each, strict=True):
            if count:
                height = max(100 * count / peak, MIN_HEIGHT)
                top = max(top - height, 0.0)
                bars.append(
                    Bar(kind, 100 * (number + GAP / 2) / steps.count, top, 100 * (1 - GAP) / steps.count, height, text)
                )
    totals = tuple((kind, name, sum(numbers)) for kind, name, numbers in parts)
    return TimeRow(title, sum(total for *_, total in totals), totals, peak, tuple(bars), dates, counts)


def _dates(phase: Phase, steps: Steps) -> tuple[float, ...]:
    ends = (phase.rules.opens_at, phase.rules.closes_at)
    places = [100 * ((end - steps.start) / (steps.length * steps.count)) for end in ends if end is not None]
    return tuple(place for place in places if 0 <= place <= 100)


def _ticks(begins: Sequence[datetime], days: int) -> tuple[tuple[float, str], ...]:
    """Return a few places of the axis and their names: where a day, a month, a quarter or a year begins."""
    count = len(begins)
    if days == 1:
        stride = next(each for each in (1, 2, 7, 14) if -(-count // each) <= MAX_TICKS)
        return tuple(
            (100 * number / count, f"{begins[number].day} {begins[number]:%b}") for number in range(0, count, stride)
        )
    for months in (1, 3, 12):
        new = [
            (number, before, after)
            for number, (before, after) in enumerate(pairwise(begins), 1)
            if _months(before) // months != _months(after) // months
        ]
        if len(new) <= MAX_TICKS:
            break
    return tuple(
        (100 * number / count, f"{after:%Y}" if before.year != after.year else f"{after:%b}")
        for number, before, after in new
    )


def _months(instant: datetime) -> int:
    return 12 * instant.year + instant.month - 1


def durations(found: History) -> list[tuple[str, int]]:
    """Return how many submissions took how long, from the shortest; without what is longer than all."""
    limits = [*DURATIONS, (None, LONGER)]
    counts = [0] * len(limits)
    for seconds, count in found.durations.items():
        counts[next(place for place, (end, _) in enumerate(limits) if end is None or seconds < end)] += count
    last = max((place for place, count in enumerate(counts) if count), default=-1)
    return [(name, count) for (_, name), count in zip(limits, counts, strict=True)][: last + 1]


def wait(found: History, share: float) -> str:
    """Return within which time this share of the results was there."""
    return about(quantile(found.durations, share))


def about(seconds: int) -> str:
    """Return about how long that is.

    >>> [about(seconds) for seconds in (0, 59, 170, 7200, 200_000)]
    ['1 s', '59 s', '3 min', '2 h', '2 days']
    """
    for unit, size in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{round(seconds / size)} {unit}"
    return f"{max(seconds, 1)} s"
