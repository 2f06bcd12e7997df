"""Slope chart of a re-score: the ranks of methods before and after, each joined by a line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LINE = 22  # units, about pixels, from one name to the next
TOP = 30  # to the first name
MAX_NAME = 26  # letters


@dataclass(frozen=True, slots=True)
class Slope:
    """A method of the chart: its ranks, and how high they are drawn."""

    name: str
    before: int
    after: int
    left: int
    right: int

    @property
    def direction(self) -> str:
        """Whether the rank gets better, for its style."""
        return "up" if self.after < self.before else "down" if self.after > self.before else ""


@dataclass(frozen=True, slots=True)
class SlopeChart:
    """The slopes of one leaderboard, by their new rank."""

    slopes: tuple[Slope, ...]

    @property
    def height(self) -> int:
        """Height of the drawing."""
        return TOP + LINE * len(self.slopes)


def slope_chart(changes: Sequence[Mapping[str, Any]]) -> SlopeChart | None:
    """Return the chart of the `ranks` of a competition in the summary of a re-score's report; None if there are none.

    Names stand by rank below each other, however far apart the ranks are, and those with equal ranks in one order.
    """
    if not changes:
        return None
    shown = sorted(changes, key=lambda one: (one["rank"]["after"], one["rank"]["before"]))
    of_before = sorted(range(len(shown)), key=lambda number: (shown[number]["rank"]["before"], number))
    places = {number: place for place, number in enumerate(of_before)}
    return SlopeChart(
        tuple(
            Slope(
                name=one["method"] if len(one["method"]) <= MAX_NAME else f"{one['method'][: MAX_NAME - 1]}…",
                before=one["rank"]["before"],
                after=one["rank"]["after"],
                left=TOP + LINE * places[number],
                right=TOP + LINE * number,
            )
            for number, one in enumerate(shown)
        )
    )
