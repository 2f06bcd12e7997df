"""Contests: one work, done by several contestants in turn, each time in a process of its own."""

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
SLOW_SECONDS = 20  # a contestant that takes longer runs once: its figure need not be as exact

Run = Callable[[], Any]  # what is timed; work that other processes do returns its own `Measurement`


class Kind(StrEnum):
    """What a contestant is for."""

    OURS = "ours"
    PEER = "peer"
    FLOOR = "floor"


@dataclass(frozen=True, slots=True)
class Contestant:
    """One way of doing a work.

    Attributes:
        prepare: takes the directory of the data, imports what the work needs, and returns what is timed.
    """

    kind: Kind
    prepare: Callable[[Path], Run]


@dataclass(frozen=True, slots=True)
class Goal:
    """What ours is to reach.

    Attributes:
        unit: what `limit` is. "x": at most so many times what some contestants take together; "more s": at most so many
            seconds more; "rate": at least this part of their rate; "s", "MiB" or the name of a part: at most so many.
    """

    limit: float
    floors: tuple[str, ...] = ()
    unit: str = "x"


@dataclass(frozen=True, slots=True)
class Work:
    """One work.

    Attributes:
        make: makes the data in an empty directory, of the full size times a scale.
    """

    name: str
    title: str
    make: Callable[[Path, float], None]
    contestants: Mapping[str, Contestant]
    goals: tuple[Goal, ...]


@dataclass(frozen=True, slots=True)
class Measurement:
    """Medians over the rounds.

    Attributes:
        seconds: on the clock, from start to end of the work.
        processor_seconds: of all processors, user and system.
        peak_mib: largest resident size of the process, its libraries and the truth included.
        parts: what else there is to tell, by name.
    """

    seconds: float
    processor_seconds: float
    peak_mib: float
    parts: Mapping[str, float] = field(default_factory=dict)


def hold(work: Work, directory: Path, rounds: int, peers: Path) -> tuple[dict[str, Measurement], dict[str, str]]:
    """Let all contestants take turns; return what was measured, and why who is missing is missing."""
    taken: dict[str, list[Measurement]] = {name: [] for name in work.contestants}
    skipped: dict[str, str] = {}
    for _ in range(rounds):
        for name in work.contestants:
            if name in skipped or any(each.seconds > SLOW_SECONDS for each in taken[name]):
                continue
            try:
                taken[name].append(_once(work, name, directory, peers))
            except ContestantError as error:
                skipped[name] = str(error)
    return {name: _median(each) for name, each in taken.items() if each and name not in skipped}, skipped


class ContestantError(Exception):
    """A contestant cannot take part; the message is the last line it printed."""


def _once(work: Work, name: str, directory: Path, peers: Path) -> Measurement:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(peers)))}
    command = [sys.executable, "-m", "benchmarks.child", work.name, name, str(directory)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, env=environment, cwd=ROOT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ContestantError(f"took more than {PATIENCE_SECONDS} s") from error
    if done.returncode:
        raise ContestantError((done.stderr.strip().splitlines() or ["ended without a word"])[-1])
    return Measurement(**json.loads(done.stdout.splitlines()[-1]))


def _median(measurements: list[Measurement]) -> Measurement:
    return Measurement(
        statistics.median(each.seconds for each in measurements),
        statistics.median(each.processor_seconds for each in measurements),
        statistics.median(each.peak_mib for each in measurements),
        {name: statistics.median(each.parts[name] for each in measurements) for name in measurements[0].parts},
    )
