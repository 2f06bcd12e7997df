"""How many jobs a second processes claim while many wait.

    python -m benchmarks.claims [--waiting 100000] [--owners 10000] [--processes 4] [--seconds 10] [--over 100]

Half of the jobs are one person's. Each claim is a transaction of its own, as workers make it, and the job is finished
in another one. Exit status 1 if it is less than so many a second.
"""

import argparse
import multiprocessing
import statistics
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import text

from benchmarks.running import installed
from vocboard.app.database import Database
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Kind

LEASE = timedelta(minutes=1)
WAITING = text(f"""
    INSERT INTO jobs (id, created_at, kind, key, priority, owner, turn, not_before, attempts)
    SELECT gen_random_uuid(), now(), 'evaluation', gen_random_uuid(), {jobs.PRIORITY[Kind.EVALUATION]},
        md5(owner::text)::uuid, row_number() OVER (PARTITION BY owner), now(), 0
    FROM (SELECT CASE WHEN n % 2 = 0 THEN 0 ELSE n % :owners END AS owner FROM generate_series(1, :waiting) n) AS w
""")


def claim(url: str, seconds: float, begin: Any, told: Any) -> None:
    """Claim and finish jobs as one process of a worker, and tell how many milliseconds each claim took."""
    database, taken = Database(url), []
    begin.wait()
    ends_at = time.perf_counter() + seconds
    while time.perf_counter() < ends_at:
        began = time.perf_counter()
        with database.writing(durable=False) as session:
            claimed = jobs.claim(session, tuple(Kind), lease=LEASE)
        taken.append(1000 * (time.perf_counter() - began))
        assert claimed is not None, "none waits any more"
        with database.writing() as session:
            jobs.finish(session, claimed)
    told.put(taken)


def run(directory: Path, *, waiting: int, owners: int, processes: int, seconds: float) -> list[float]:
    """Return the milliseconds of all claims."""
    context = multiprocessing.get_context("spawn")
    begin, told = context.Barrier(processes), context.Queue()
    with installed(directory) as installation:
        url = installation.settings.database
        with Database(url).writing() as session:
            session.execute(WAITING, {"owners": owners, "waiting": waiting})
        for _ in range(processes):
            context.Process(target=claim, args=(url, seconds, begin, told)).start()
        return [each for _ in range(processes) for each in told.get()]


def main() -> int:
    """Run it once, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    sizes = {"waiting": 100_000, "owners": 10_000, "processes": 4, "seconds": 10}
    for name, default in (*sizes.items(), ("over", 100)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        taken = run(Path(directory), **{name: getattr(given, name) for name in sizes})
    rate = len(taken) / given.seconds
    print(f"{rate:.0f} claims a second; median {statistics.median(taken):.1f} ms, worst {max(taken):.1f} ms")
    return 0 if rate >= given.over else 1


if __name__ == "__main__":
    sys.exit(main())
