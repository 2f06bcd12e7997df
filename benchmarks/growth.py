"""How the cost of detection grows: `python -m benchmarks.growth` prints seconds for 10,000 to 10,000,000 detections."""

import argparse
import os
from pathlib import Path

from benchmarks.contest import Contestant, Kind, Work, hold
from benchmarks.made.world import IMAGES, make_world
from benchmarks.works.boxes import score_detections, write_detections

NUMBERS = (10_000, 100_000, 1_000_000, 10_000_000)
ROUNDS = 3


def make_growth(directory: Path, number: float) -> None:
    """Write a test set of one image for every hundred detections, at most as large as VOC2012's."""
    images = max(10, min(IMAGES, int(number / 100)))
    write_detections(directory, make_world(images, images * 2), int(number))


GROWTH = Work("growth", "detection", make_growth, {"vocboard": Contestant(Kind.OURS, score_detections("results"))}, ())


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=NUMBERS[-1])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vocboard-benchmarks"
    print("| detections | s | s of processor | MiB | processor time for one, microseconds |\n|---|---|---|---|---|")
    for number in NUMBERS:
        if number > arguments.most:
            break
        directory = cache / f"growth-{number}"
        if not (directory / "made").exists():
            directory.mkdir(parents=True, exist_ok=True)
            make_growth(directory, number)
            (directory / "made").touch()
        measured, skipped = hold(GROWTH, directory, arguments.rounds, cache)
        if skipped:
            raise SystemExit(str(skipped))
        each = measured["vocboard"]
        one = each.processor_seconds / number * 1e6
        print(
            f"| {number:,} | {each.seconds:.3f} | {each.processor_seconds:.3f} | {each.peak_mib:.0f} | {one:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
