"""Limits that a process sets on itself before it reads untrusted input."""

import ctypes
import os
import resource
import signal
import sys

_NICENESS = 5
_PR_SET_PDEATHSIG = 1


def limit_memory(limit_bytes: int) -> None:
    """Limit this process's address space; allocations beyond it raise `MemoryError`.

    It cannot raise the limit again, whatever code it runs afterwards.

    Only Linux enforces the limit; on other systems this does nothing.
    """
    if not sys.platform.startswith("linux"):
        return
    _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
    if hard_limit != resource.RLIM_INFINITY:
        limit_bytes = min(limit_bytes, hard_limit)
    resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, limit_bytes))


def end_with_parent() -> None:
    """Have this process killed when its parent thread ends, on Linux. Source: prctl(2)."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def lower_priority() -> None:
    """Lower this process's priority below pages, database and evaluations. Idempotent."""
    os.setpriority(os.PRIO_PROCESS, 0, max(_NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))
