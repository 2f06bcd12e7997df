"""Limits that a process sets on itself before it reads what strangers sent."""

import os
import resource
import sys

_NICENESS = 5


def limit_memory(limit_bytes: int) -> None:
    """Let this process have no more address space than that: beyond it, allocations raise `MemoryError`.

    Only Linux enforces such a limit; elsewhere this does nothing.
    """
    if not sys.platform.startswith("linux"):
        return
    _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
    if hard_limit != resource.RLIM_INFINITY:
        limit_bytes = min(limit_bytes, hard_limit)
    resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, hard_limit))


def step_back() -> None:
    """Leave the processor to pages, database and evaluations where they want it, too; repeating it changes nothing."""
    os.setpriority(os.PRIO_PROCESS, 0, max(_NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))
