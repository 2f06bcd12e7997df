"""Two machines under load and faults, after which everything that was accepted is scored, and once.

    make soak ARGS="--seconds 1800 --seed 3"

runs two web processes and two workers, each pair with a directory of its own, beat, PostgreSQL with a stand-by, Redis,
an S3 server, a mail server, and Caddy. While people upload, publish, change teams and look at pages, and an organiser
re-scores everything again and again, faults of all kinds (`faults.KINDS`) come at moments that the seed decides. What
the faults killed they start again; nothing else is.

The faults come in rounds. After each, whatever was accepted has to be scored, or failed and its quota returned, within
lease + 60 s. In the end it is counted (`counting`) that nothing is lost, counts twice, is stuck, or has mixed two
versions of the ground truth. Requests may be answered by nothing but what was asked for, refusals that a person of the
same team caused, 503 and 429 with `Retry-After`, and, where a web process was killed, 502 to 504 of the proxy.

Exit status 1 if any of this is not so; then the logs are kept. It needs the packages of `make set-up`, and Caddy.
"""

import argparse
import collections
import json
import re
import shutil
import signal
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.soak.counting import count, settle
from tests.soak.faults import PAUSE, injecting, lane
from tests.soak.people import acting, people_of
from tests.soak.world import World, running

LEASE = timedelta(seconds=10)
SECONDS_OF_ROUND = 300.0


def main() -> int:
    """Run the faults, and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=90.0, help="of load and faults (default: %(default)s)")
    parser.add_argument("--report", type=Path, help="file for the report in JSON")
    arguments = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="vocboard-soak-"))
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # and end what it has started
    with running(directory, lease=LEASE) as world:
        report, wrong = _soak(world, arguments.seed, arguments.seconds)
    report["errors in logs"] = _errors(directory)
    text = json.dumps(report | {"wrong": dict(collections.Counter(wrong).most_common())}, indent=2)
    print(text)
    if arguments.report:
        arguments.report.write_text(text + "\n")
    if wrong:
        print(f"failed; logs: {directory}")
        return 1
    shutil.rmtree(directory)
    print(f"passed: {report['accepted']} submissions, {sum(report['faults'].values())} faults")
    return 0


def _soak(world: World, seed: int, seconds: float) -> tuple[dict[str, Any], list[str]]:
    met, settled, wrong = list[str](), list[float](), list[str]()
    lanes = {name: lane(name, seed) for name in PAUSE}
    with people_of(world) as people:
        started = time.monotonic()

        def told(what: str) -> None:
            print(f"{time.monotonic() - started:7.1f} s  {what}", flush=True)

        with acting(people, seed):
            while (left := seconds - (time.monotonic() - started)) > 1:
                with injecting(world, lanes, met, told) as failed:
                    failed.wait(min(left, SECONDS_OF_ROUND))
                waited, stuck = settle(world)
                told(f"everything is scored after {waited:.1f} s, {len(people.ledger.accepted)} submissions so far")
                settled.append(round(waited, 1))
                wrong += stuck
        wrong += settle(world, everything=True)[1]
        figures, found = count(world, people)
        report = {
            "seed": seed,
            "seconds": round(time.monotonic() - started),
            "faults": dict(collections.Counter(met).most_common()),
            **figures,
            "seconds until everything was scored after each round": settled,
            "leaderboards seen, by version of the ground truth": dict(people.ledger.versions),
            "answers": dict(sorted(people.ledger.answers.items())),
        }
    return report, wrong + found


def _errors(logs: Path) -> dict[str, int]:
    """Return the last lines of tracebacks in the logs, and how often there was which."""
    found = collections.Counter[str]()
    for log in logs.glob("*.log"):
        for trace in re.findall(r"^Traceback .*\n(?:[ \t|+].*\n|\n)*(\S.*)", log.read_text(errors="replace"), re.M):
            found[re.sub(r"[0-9a-f-]{36}|\d+", "N", trace)[:160]] += 1
    return dict(found.most_common())


if __name__ == "__main__":
    sys.exit(main())
