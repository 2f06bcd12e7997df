"""`make bench`: ours next to peers and floors, as one table and as JSON.

`--quick` takes a tenth of the data and one round; `--only` runs some of the cases.
"""

import argparse
import json
import os
from dataclasses import asdict
from pathlib import Path

from benchmarks import peers
from benchmarks.benchmark import compare
from benchmarks.cases import CASES, find_case
from benchmarks.machine import cache_directory, describe_machine, versions
from benchmarks.table import Result, rows, verdicts

ROUNDS = 5
FORMAT = 6  # of the synthetic data; raise it when they or the tables of the database change
QUICK_SCALE = 0.1


def main() -> None:
    """Make the data, run the benchmarks, print the table."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the data, one round: a minute, for development"
    )
    parser.add_argument("--only", nargs="+", choices=CASES, default=CASES, metavar="CASE")
    parser.add_argument("--rounds", type=int, default=None)
    parser.add_argument("--json", type=Path, help="where to write the figures (default: next to the data)")
    arguments = parser.parse_args()
    cache = cache_directory()
    rounds = arguments.rounds or (1 if arguments.quick else ROUNDS)
    scale = QUICK_SCALE if arguments.quick else 1.0
    installed, missing = peers.install(cache)
    for reason in missing:
        print(f"skipped: {reason}", flush=True)
    print(
        f"{describe_machine()}\n{versions(installed)}\nmedian of {rounds}, in turn, each in a new process", flush=True
    )
    results = []
    for name in arguments.only:
        case = find_case(name)
        directory = cache / f"data-{FORMAT}-{scale:g}" / case.make.__name__
        if not (directory / "complete").exists():
            directory.mkdir(parents=True, exist_ok=True)
            case.make(directory, scale)
            (directory / "complete").touch()
        measured, skipped = compare(case, directory, rounds, installed)
        results.append(Result(case, measured))
        print("\n".join(["", *rows(results[-1]), *verdicts(results[-1])]), flush=True)
        for implementation, reason in skipped.items():
            print(f"  {implementation} skipped: {reason}", flush=True)
    document = {
        "machine": describe_machine(),
        "versions": versions(installed),
        "rounds": rounds,
        "scale": scale,
        "load": os.getloadavg(),
        "cases": {
            result.case.name: {name: asdict(measurement) for name, measurement in result.measured.items()}
            for result in results
        },
    }
    path = arguments.json or cache / "figures.json"
    path.write_text(json.dumps(document, indent=2))
    print(f"\n{path}")


if __name__ == "__main__":
    main()
