"""From the text of so many detections to average precision and curves."""

from pathlib import Path

from benchmarks.benchmark import compare
from benchmarks.cases.growing import GROWING

NUMBERS = (10_000, 100_000, 1_000_000, 10_000_000)


def measure(number: int, rounds: int, cache: Path) -> dict[str, float]:
    """Return seconds and memory, each a median over the rounds, and the processor time that one detection takes."""
    directory = cache / f"growth-{number}"
    if not (directory / "complete").exists():
        directory.mkdir(parents=True, exist_ok=True)
        GROWING.make(directory, number)
        (directory / "complete").touch()
    measured, skipped = compare(GROWING, directory, rounds, cache)
    if skipped:
        raise SystemExit(str(skipped))
    each = measured["vocboard"]
    return {
        "s": each.seconds,
        "s of processor": each.processor_seconds,
        "MiB": each.peak_mib,
        "microseconds of processor for one": each.processor_seconds / number * 1e6,
    }
