"""So many worker processes that score submissions of VOC2007's size."""

import statistics
from pathlib import Path

from benchmarks.cases.draining import measure_workers
from benchmarks.datasets.voc2007 import make_voc2007

NUMBERS = (1, 2, 3, 4)
SUBMISSIONS = 40


def measure(number: int, rounds: int, cache: Path) -> dict[str, float]:
    """Return how many are scored in a second, a median over the rounds."""
    directory = cache / "growth-workers"
    if not (directory / "complete").exists():
        directory.mkdir(parents=True, exist_ok=True)
        make_voc2007(directory, 1.0)
        (directory / "complete").touch()
    rates = [measure_workers(directory, number, SUBMISSIONS) for _ in range(rounds)]
    return {"scored a second": statistics.median(rates)}
