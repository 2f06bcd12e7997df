"""Cost of reading each upload in a new process, forked from one that has imported everything."""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from benchmarks.benchmark import Case, Goal, Implementation, Kind, Measurement, Run
from benchmarks.datasets.voc2007 import COMPETITIONS, EDITION, make_voc2007
from vocboard.app.intake.confinement import ReadingLimits
from vocboard.app.intake.reading import CHECK, ReadingProcess, reading_server
from vocboard.evaluator.editions import load
from vocboard.evaluator.ground_truth import GroundTruth

UPLOADS = 30
LIMIT_BYTES = 1 << 30
IN_PROCESS = "the same in this process"


def make_small(directory: Path, _: float) -> None:
    """Write a small upload, and the truth that it is checked against."""
    make_voc2007(directory, 0.02)


def _processor_seconds() -> float:
    """Of this process, and of those that are forked for it."""
    processes = (psutil.Process(), *psutil.Process().children())
    return sum(sum(each.cpu_times()[:4]) for each in processes)


def _median(read: Callable[[], object], parts: dict[str, float]) -> Measurement:
    """Read so many uploads, after a first one, and return the median."""
    read()
    seconds, processor_began = [], _processor_seconds()
    for _ in range(UPLOADS):
        began = time.perf_counter()
        read()
        seconds.append(time.perf_counter() - began)
    return Measurement(statistics.median(seconds), (_processor_seconds() - processor_began) / UPLOADS, 0, parts)


def _forked(directory: Path) -> Run:
    edition, image_sets = load(EDITION), GroundTruth.load(directory / "truth.npz").image_sets
    arguments = (edition, image_sets, COMPETITIONS, None, LIMIT_BYTES)

    def run() -> Measurement:
        server = reading_server()
        try:
            began = time.perf_counter()
            server.start()
            started = {"starts once, s": time.perf_counter() - began}

            def read() -> None:
                ReadingProcess(server).ask(
                    directory / "results.tar.gz",
                    CHECK,
                    *arguments,
                    limits=ReadingLimits(LIMIT_BYTES),
                    sink=lambda _: None,
                )

            return _median(read, started)
        finally:
            server.close()

    return run


def _in_process(directory: Path) -> Run:
    from vocboard.app.intake.reading_program import check  # noqa: PLC0415

    edition, image_sets = load(EDITION), GroundTruth.load(directory / "truth.npz").image_sets

    def read() -> None:
        with (directory / "results.tar.gz").open("rb") as upload:
            check(upload, edition, image_sets, COMPETITIONS, None, LIMIT_BYTES, lambda _: None)

    return lambda: _median(read, {})


FRESH_PROCESS = Case(
    name="fresh-process",
    title="check of a small upload in a process of its own",
    make=make_small,
    implementations={
        "vocboard": Implementation(Kind.OURS, _forked),
        IN_PROCESS: Implementation(Kind.FLOOR, _in_process),
    },
    goals=(Goal(0.05, (IN_PROCESS,), unit="more s"),),
)
