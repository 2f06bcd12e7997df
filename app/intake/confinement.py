"""Limits that a process sets on itself before it reads untrusted input.

It limits its memory and processor time, and drops its access to the network, other processes, programs and most files.
On Linux, this uses three kernel features. None needs privileges, and all last until the process ends, and for processes
that it forks:

- `no_new_privs`: programs that it starts cannot gain privileges. Source: prctl(2).
- Landlock: it can only open files below given directories, for reading; no TCP ports, abstract sockets, signals to or
  memory access of other processes. Source: landlock(7), linux/landlock.h.
- seccomp: only the system calls that are listed in `system_calls` are allowed, so none for sockets, programs, new
  processes and signals. Others fail with EPERM.

Other systems, such as macOS, have no equivalent without privileges; there, only the limits apply.
"""

import ctypes
import math
import os
import resource
import signal
import struct
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from vocboard.app.intake.system_calls import INSTRUCTION_BYTES, filter_program

NO_NEW_PRIVILEGES, FILES, SYSTEM_CALLS = "no-new-privileges", "landlock", "seccomp"
ALL_MECHANISMS = frozenset({NO_NEW_PRIVILEGES, FILES, SYSTEM_CALLS})

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2

_LANDLOCK_CREATE_RULESET, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT_SELF = 444, 445, 446  # on every architecture
_CREATE_RULESET_VERSION, _RULE_PATH_BENEATH = 1, 1
_READ_FILE, _READ_DIRECTORY = 1 << 2, 1 << 3
# Number of file access rights by version of Landlock's interface; unknown rights are an error.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_TCP_BIND_AND_CONNECT, _ABSTRACT_SOCKETS_AND_SIGNALS = 0b11, 0b11
_NET_SINCE, _SCOPES_SINCE = 4, 6


def restrict_files(readable: Iterable[Path]) -> frozenset[str]:
    """Permanently restrict which files this thread can open, and all threads and processes that it starts.

    Args:
        readable: files and directories that can still be opened for reading. Open files remain open.

    Returns:
        The members of `ALL_MECHANISMS` that this system supports, of the first two.
    """
    if not sys.platform.startswith("linux"):
        return frozenset()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return frozenset()  # required for the other two without privileges
    return frozenset({NO_NEW_PRIVILEGES, FILES} if _restrict_files(libc, readable) else {NO_NEW_PRIVILEGES})


def restrict_system_calls() -> frozenset[str]:
    """Permanently restrict which system calls this thread can make, and all threads that it starts.

    Call it after `restrict_files`, and before there are other threads.

    Returns:
        `SYSTEM_CALLS`, if this system supports it.
    """
    if not sys.platform.startswith("linux") or (program := filter_program()) is None:
        return frozenset()
    libc = ctypes.CDLL(None, use_errno=True)
    instructions = ctypes.create_string_buffer(program)
    # struct sock_fprog: a length, and after padding a pointer.
    described = struct.pack("@HP", len(program) // INSTRUCTION_BYTES, ctypes.addressof(instructions))
    is_restricted = libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, described, 0, 0) == 0
    return frozenset({SYSTEM_CALLS} if is_restricted else ())


def _restrict_files(libc: ctypes.CDLL, readable: Iterable[Path]) -> bool:
    version = libc.syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _CREATE_RULESET_VERSION)
    if version < 1:
        return False  # kernel before 5.13, or without Landlock
    rights = (1 << _FILE_RIGHTS[min(version, max(_FILE_RIGHTS))]) - 1
    attributes = struct.pack("=Q", rights)
    attributes += struct.pack("=Q", _TCP_BIND_AND_CONNECT) if version >= _NET_SINCE else b""
    attributes += struct.pack("=Q", _ABSTRACT_SOCKETS_AND_SIGNALS) if version >= _SCOPES_SINCE else b""
    ruleset = libc.syscall(_LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return False
    try:
        for path in readable:
            _allow_reading(libc, ruleset, path)
        return bool(libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _allow_reading(libc: ctypes.CDLL, ruleset: int, path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        rights = _READ_FILE | _READ_DIRECTORY if path.is_dir() else _READ_FILE
        rule = struct.pack("=Qi", rights, descriptor)
        if libc.syscall(_LANDLOCK_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0) != 0:
            raise OSError(ctypes.get_errno(), "landlock_add_rule", str(path))
    finally:
        os.close(descriptor)


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
