"""From the text of so many detections to average precision and curves."""

from pathlib import Path

from benchmarks.contest import Contestant, Kind, Work, hold
from benchmarks.made.world import IMAGES, make_world
from benchmarks.works.boxes import score_detections, write_detections

NUMBERS = (10_000, 100_000, 1_000_000, 10_000_000)


def make_growth(directory: Path, number: float) -> None:
    """Write a test set of one image for every hundred detections, at most as large as VOC2012's."""
    images = max(10, min(IMAGES, int(number / 100)))
    write_detections(directory, make_world(images, images * 2), int(number))


GROWTH = Work("growth", "detection", make_growth, {"vocboard": Contestant(Kind.OURS, score_detections("results"))}, ())


def measure(number: int, rounds: int, cache: Path) -> dict[str, float]:
    """Return seconds and memory, each a median over the rounds, and the processor time that one detection takes."""
    directory = cache / f"growth-{number}"
    if not (directory / "made").exists():
        directory.mkdir(parents=True, exist_ok=True)
        make_growth(directory, number)
        (directory / "made").touch()
    measured, skipped = hold(GROWTH, directory, rounds, cache)
    if skipped:
        raise SystemExit(str(skipped))
    each = measured["vocboard"]
    return {
        "s": each.seconds,
        "s of processor": each.processor_seconds,
        "MiB": each.peak_mib,
        "microseconds of processor for one": each.processor_seconds / number * 1e6,
    }
