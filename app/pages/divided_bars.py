"""Bars that are divided by kind, such as results by kind of error."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vocboard.app.pages import formats


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
