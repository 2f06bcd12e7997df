"""Benchmarks: several implementations run the same case in turn, each run in a new process."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_SECONDS = 900
SLOW_SECONDS = 20  # an implementation that takes longer runs once: its figure need not be as exact

Run = Callable[[], Any]  # what is timed; if other processes do the work, it returns its own `Measurement`


class Kind(StrEnum):
    """Role of an implementation in a comparison: ours, another library, or a lower bound."""

    OURS = "ours"
    PEER = "peer"
    FLOOR = "floor"


@dataclass(frozen=True, slots=True)
class Implementation:
    """One way of running a case.

    Attributes:
        prepare: takes the directory of the data, imports what it needs, and returns the function to time.
    """

    kind: Kind
    prepare: Callable[[Path], Run]


@dataclass(frozen=True, slots=True)
class Goal:
    """A target for our implementation.

    Attributes:
        unit: what `limit` is. "x": at most so many times the time of the floors together; "more s": at most so many
            seconds more; "rate": at least this part of their rate; "s", "MiB" or the name of a part: at most so many.
    """

    limit: float
    floors: tuple[str, ...] = ()
    unit: str = "x"


@dataclass(frozen=True, slots=True)
class Case:
    """Something to measure, with its data, its implementations and its targets.

    Attributes:
        make: writes the data into an empty directory; takes their size as a fraction of the full size.
    """

    name: str
    title: str
    make: Callable[[Path, float], None]
    implementations: Mapping[str, Implementation]
    goals: tuple[Goal, ...]


@dataclass(frozen=True, slots=True)
class Measurement:
    """Medians over the rounds.

    Attributes:
        seconds: wall-clock time from start to end.
        processor_seconds: of all processors, user and system.
        peak_mib: largest resident size of the process, its libraries and the truth included.
        parts: further figures by name.
    """

    seconds: float
    processor_seconds: float
    peak_mib: float
    parts: Mapping[str, float] = field(default_factory=dict)


def compare(case: Case, directory: Path, rounds: int, peers: Path) -> tuple[dict[str, Measurement], dict[str, str]]:
    """Run all implementations in turn; return the measurements, and why an implementation was skipped."""
    taken: dict[str, list[Measurement]] = {name: [] for name in case.implementations}
    skipped: dict[str, str] = {}
    for _ in range(rounds):
        for name in case.implementations:
            if name in skipped or any(each.seconds > SLOW_SECONDS for each in taken[name]):
                continue
            try:
                taken[name].append(_once(case, name, directory, peers))
            except ImplementationError as error:
                skipped[name] = str(error)
    return {name: _median(each) for name, each in taken.items() if each and name not in skipped}, skipped


class ImplementationError(Exception):
    """An implementation cannot run; the message is the last line it printed."""


def _once(case: Case, name: str, directory: Path, peers: Path) -> Measurement:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(peers)))}
    command = [sys.executable, "-m", "benchmarks.child", case.name, name, str(directory)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, env=environment, cwd=ROOT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ImplementationError(f"took more than {PATIENCE_SECONDS} s") from error
    if done.returncode:
        raise ImplementationError((done.stderr.strip().splitlines() or ["exited without a message"])[-1])
    return Measurement(**json.loads(done.stdout.splitlines()[-1]))


def _median(measurements: list[Measurement]) -> Measurement:
    return Measurement(
        statistics.median(each.seconds for each in measurements),
        statistics.median(each.processor_seconds for each in measurements),
        statistics.median(each.peak_mib for each in measurements),
        {name: statistics.median(each.parts[name] for each in measurements) for name in measurements[0].parts},
    )
