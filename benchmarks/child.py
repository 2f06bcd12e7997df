"""One run of one implementation: `python -m benchmarks.child CASE IMPLEMENTATION DIRECTORY` prints JSON."""

import contextlib
import gc
import json
import os
import resource
import sys
import time
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from benchmarks.benchmark import Measurement
from benchmarks.cases import find_case

KIB_IN_MIB = 1024
# What is timed begins when libraries are imported, also those that ours imports when it needs them.
IMPORTED_LATE = (
    "concurrent.futures.thread",
    "vocboard.evaluator.archives.tar_format",
    "vocboard.evaluator.problem_groups",
    "vocboard.evaluator.reading.upload_facts",
)


def main() -> None:
    """Prepare, run, and print."""
    case, name, directory = sys.argv[1:]
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        run = find_case(case).implementations[name].prepare(Path(directory))
        if "vocboard.evaluator.evaluation" in sys.modules:
            for module in IMPORTED_LATE:
                import_module(module)
        gc.collect()
        before, processor_before = time.perf_counter(), _processor_seconds()
        returned = run()
        seconds, processor_seconds = time.perf_counter() - before, _processor_seconds() - processor_before
    own = Measurement(seconds, processor_seconds, _peak_kib() / KIB_IN_MIB)
    print(json.dumps(asdict(returned if isinstance(returned, Measurement) else own)))


def _peak_kib() -> int:
    """Largest resident size. Not out of `getrusage`, which after a fork begins with the parent's."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def _processor_seconds() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


if __name__ == "__main__":
    main()
