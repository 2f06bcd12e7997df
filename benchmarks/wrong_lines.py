"""A detection file of a million lines, with ten wrong ones and without: `python -m benchmarks.wrong_lines`.

All ten have to be told, in under twice the processor time that the same file takes without them.
"""

import sys
import time

import numpy as np

from vocboard.evaluator.editions import Limits, Task
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.tasks.detection.format import read_detections

LINES = 1_000_000
IMAGES = tuple(f"2008_{number:06}" for number in range(10_000))
WRONG = (
    "2008_000001",
    "2008_000001 nan 1 1 2 2",
    "2008_000001 0.5 1 1 2",
    "nowhere 0.5 1 1 2 2",
    "2008_000001 0,5 1 1 2 2",
    "2008_000001 1e99 1 1 2 2",
    "2008_000001 0.5",
    "2008_000001.jpg 0.5 1 1 2 2",
    "2008_000001 0.5 1 1 2 two",
    "2008_000001 0.5 1 1 2 2 car",
)
TIMES = 5


def read(data: bytes) -> tuple[float, list[Problem]]:
    """Return the processor seconds that a file takes, and its problems."""
    sizes = np.full((len(IMAGES), 2), 500, dtype=np.int32)
    items, report = Items(Task.DETECTION, ImageSet(IMAGES, sizes)), FileReport("comp3_det_test_car.txt")
    began = time.process_time()
    read_detections(data, items, Limits(), report)
    return time.process_time() - began, report.problems()


def main() -> int:
    """Measure; return 0 if the promise is kept."""
    random = np.random.default_rng(1)
    confidence = random.random(LINES)
    left, top = random.integers(1, 300, LINES), random.integers(1, 300, LINES)
    lines = [
        f"{IMAGES[number % len(IMAGES)]} {confidence[number]:.6f} {left[number]} {top[number]} "
        f"{left[number] + 99.5} {top[number] + 99.25}"
        for number in range(LINES)
    ]
    good = "\n".join(lines).encode()
    for place, line in enumerate(WRONG):
        lines[LINES // len(WRONG) * place + 54_321] = line
    wrong = "\n".join(lines).encode()
    read(good)  # imports the column reader
    without, with_wrong = (min(read(data)[0] for _ in range(TIMES)) for data in (good, wrong))
    told = [problem.line for problem in read(wrong)[1]]
    print(f"{len(good) / 1e6:.0f} MB: {without:.2f} s; with ten wrong lines {with_wrong:.2f} s, told: {told}")
    return 0 if len(told) == len(WRONG) and with_wrong < 2 * without else 1


if __name__ == "__main__":
    sys.exit(main())
