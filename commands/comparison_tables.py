"""Tables of compared methods for the terminal."""

import math
from collections.abc import Iterator, Mapping

from vocboard.client.terminal import printable
from vocboard.commands.score_tables import INTERVAL, interval_text, percentage
from vocboard.commands.tables import Column, render
from vocboard.evaluator.problems import counted
from vocboard.evaluator.statistics.comparison import Comparison, Difference
from vocboard.evaluator.statistics.intervals import MIN_COUNTING_IMAGES, ReplicatedScore

FEW_IMAGES = f"fewer than {MIN_COUNTING_IMAGES} images count"  # where a difference has no interval


def comparison_lines(scores: Mapping[str, ReplicatedScore], found: Comparison) -> Iterator[str]:
    """Yield a table of the methods with their ranks, and one of the differences from the first.

    Args:
        scores: by method.
        found: their comparison.
    """
    intervals = [scores[name].interval() for name in found.methods]
    ranges = [found.rank_ranges[name] for name in found.methods]
    yield render(
        [
            Column("method", [printable(name) for name in found.methods]),
            Column("score, %", [percentage(scores[name].score) for name in found.methods], right=True),
            Column(INTERVAL, [interval_text(each.low, each.high) for each in intervals], right=True),
            Column(
                "rank", [f"{best}" if best == worst else f"{best} to {worst}" for best, worst in ranges], right=True
            ),
        ]
    )
    if len(found.methods) > 1:
        first, *others = found.methods
        differences = [found.differences[first, other] for other in others]
        yield ""
        pairs = counted(len(found.differences), "pair")
        yield f"{printable(first)} minus the others; simultaneous intervals, corrected for {pairs}"
        joint = [each.p_value_all_classes for each in differences if each.p_value_all_classes is not None]
        yield render(
            [
                Column("", [printable(other) for other in others]),
                Column("difference, points", [percentage(each.difference) for each in differences], right=True),
                Column(INTERVAL, [ends(each) for each in differences], right=True),
                Column("", ["" if each.is_significant else "not significant" for each in differences]),
                *([Column("p, all classes", [f"{each:.3f}" for each in joint], right=True)] if joint else []),
            ]
        )


def ends(difference: Difference) -> str:
    """Return the ends of the interval of a difference."""
    if math.isnan(difference.low):
        return FEW_IMAGES
    return interval_text(difference.low, difference.high)
