"""Limits that a process sets on itself before it reads untrusted input."""

import ctypes
import math
import os
import resource
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass

_NICENESS = 5
_PR_SET_PDEATHSIG = 1
_SECONDS_TO_SAY = 5  # that the processor time is used up, before the kernel ends the process
_OTHER_LIMITS: Mapping[int, int] = {
    resource.RLIMIT_FSIZE: 0,  # it writes to pipes only
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_NOFILE: 64,
    resource.RLIMIT_NPROC: 4096,  # of all processes of the user, so no less
}


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Limits of a process that reads an upload.

    Attributes:
        memory_bytes: see `limit_memory`.
        seconds: of processor time, so that other load does not matter; None for no limit.
    """

    memory_bytes: int
    seconds: float | None = None

    def apply(self) -> None:
        """Set the limits of this process; it cannot raise them again."""
        lower_priority()
        limit_memory(self.memory_bytes)
        for kind, limit in _OTHER_LIMITS.items():
            _limit(kind, limit)
        if self.seconds is not None:
            seconds = math.ceil(self.seconds)
            signal.signal(signal.SIGXCPU, _take_too_long)
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + _SECONDS_TO_SAY))


class ProcessorTimeUsedUp(BaseException):  # like KeyboardInterrupt: no `except Exception` may stop it
    """The process has used all of its processor time."""


def _take_too_long(*_signal: object) -> None:
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)  # it comes again every second
    raise ProcessorTimeUsedUp


def limit_memory(limit_bytes: int) -> None:
    """Limit this process's writable memory; allocations beyond it raise `MemoryError`.

    Memory that is only reserved, and files that are mapped for reading, do not count. It cannot raise the limit again,
    whatever code it runs afterwards.

    Only Linux enforces the limit; on other systems this does nothing.
    """
    if sys.platform.startswith("linux"):
        _limit(resource.RLIMIT_DATA, limit_bytes)


def end_with_parent() -> None:
    """Have this process killed when its parent thread ends, on Linux. Source: prctl(2)."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def lower_priority() -> None:
    """Lower this process's priority below pages, database and evaluations. Idempotent."""
    os.setpriority(os.PRIO_PROCESS, 0, max(_NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))


def _limit(kind: int, limit: int) -> None:
    """Set both limits, but not above an existing one."""
    _, hard_limit = resource.getrlimit(kind)
    if hard_limit != resource.RLIM_INFINITY:
        limit = min(limit, hard_limit)
    resource.setrlimit(kind, (limit, limit))
