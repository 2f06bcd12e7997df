"""A leaderboard of so many published methods: the first request, and those after it."""

import statistics
from pathlib import Path

from benchmarks.cases.board import measure_board

NUMBERS = (1, 10, 100, 1_000, 10_000)


def measure(number: int, rounds: int, _: Path) -> dict[str, float]:
    """Return milliseconds to the end of the answer, and the answers' size; medians over the rounds."""
    measured = [measure_board(number) for _ in range(rounds)]
    return {name: statistics.median(each[name] for each in measured) for name in measured[0]}
