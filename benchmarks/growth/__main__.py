"""`make growth`: how cost grows, as tables, as JSON, and as plots for the documentation."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks import peers
from benchmarks.benchmark import ROOT
from benchmarks.growth import GROWTHS, Growth
from benchmarks.machine import cache_directory, describe_machine

ROUNDS = 3


def main() -> None:
    """Measure, print tables, draw."""
    parser = argparse.ArgumentParser(prog="make growth", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(GROWTHS), default=list(GROWTHS), metavar="GROWTH")
    parser.add_argument("--most", type=int, help="the largest number to go to")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--plots", type=Path, default=ROOT / "docs/images", help="directory for the plots")
    arguments = parser.parse_args()
    cache = cache_directory()
    path = cache / "growth.json"
    print(describe_machine(), flush=True)
    document = json.loads(path.read_text()) if path.exists() else {}
    for name in arguments.only:
        document[name] = _grow(GROWTHS[name], arguments.most, arguments.rounds, cache)
        path.write_text(json.dumps(document, indent=2))
    installed, missing = peers.install(cache, "plots")
    for reason in missing:
        print(f"skipped: {reason}", flush=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(installed)))}
    command = [sys.executable, "-m", "benchmarks.growth.plots", str(path), str(arguments.plots)]
    subprocess.run(command, check=True, env=environment, cwd=ROOT)


def _grow(growth: Growth, most: int | None, rounds: int, cache: Path) -> dict[str, dict[str, float]]:
    """Print one table, row by row as they are measured; return it."""
    measured: dict[str, dict[str, float]] = {}
    for number in growth.numbers:
        if most is not None and number > most:
            break
        figures = dict(growth.measure(number, rounds, cache))
        if not measured:
            print(f"\n{growth.title}\n| {' | '.join([growth.raised, *figures])} |\n{'|---' * (1 + len(figures))}|")
        measured[str(number)] = figures
        print(f"| {number:,} | {' | '.join(f'{value:.4g}' for value in figures.values())} |", flush=True)
    return measured


if __name__ == "__main__":
    main()
