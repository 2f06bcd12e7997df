"""What a process gives up before it reads what strangers sent: network, other processes, programs, and most files.

On Linux three means of the kernel are used, none of which needs privileges, all of which last until the process ends:

- `no_new_privs`: no program that it could start would have more rights. Source: prctl(2).
- Landlock: it opens only the files below given directories, to read; no TCP port, no abstract socket, no signal to a
  process outside, no look into its memory. Source: landlock(7), linux/landlock.h.
- seccomp: system calls for sockets, programs, signals and other processes' memory fail with EPERM. Source: seccomp(2),
  linux/seccomp.h, linux/bpf_common.h.

Elsewhere, such as on macOS, there is nothing like them that needs no privileges, and this module does nothing.
"""

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

NO_NEW_PRIVILEGES, FILES, SYSTEM_CALLS = "no-new-privileges", "landlock", "seccomp"
ALL_MEANS = frozenset({NO_NEW_PRIVILEGES, FILES, SYSTEM_CALLS})

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2

_LANDLOCK_CREATE_RULESET, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT_SELF = 444, 445, 446  # on every architecture
_CREATE_RULESET_VERSION, _RULE_PATH_BENEATH = 1, 1
_READ_FILE, _READ_DIRECTORY = 1 << 2, 1 << 3
# How many rights over files each version of Landlock's interface knows; a right that it does not know is an error.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_TCP_BIND_AND_CONNECT, _ABSTRACT_SOCKETS_AND_SIGNALS = 0b11, 0b11
_NET_SINCE, _SCOPES_SINCE = 4, 6

# System calls that fail, by architecture: (x86-64, arm64); None where there is no such call.
_FORBIDDEN: dict[str, tuple[int, int | None]] = {
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "execve": (59, 221),
    "execveat": (322, 281),
    "fork": (57, None),
    "vfork": (58, None),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "chmod": (90, None),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchownat": (260, 54),
}
_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # linux/audit.h, and the column above
_X32_CALLS = 0x40000000  # a second set of numbers on x86-64
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _FAIL_WITH_EPERM = 0x7FFF0000, 0x00050001


def confine(readable: Iterable[Path]) -> frozenset[str]:
    """Confine this thread for good, and every thread that it starts from now on; so call it before there are others.

    Args:
        readable: files and directories that may be opened from now on, to read. What is open stays open.

    Returns:
        Those of `ALL_MEANS` that this system has.
    """
    if not sys.platform.startswith("linux"):
        return frozenset()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return frozenset()  # without it, an ordinary user may use neither of the others
    means = {NO_NEW_PRIVILEGES}
    if _restrict_files(libc, readable):
        means.add(FILES)
    if _restrict_system_calls(libc):
        means.add(SYSTEM_CALLS)
    return frozenset(means)


def _restrict_files(libc: ctypes.CDLL, readable: Iterable[Path]) -> bool:
    version = libc.syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _CREATE_RULESET_VERSION)
    if version < 1:
        return False  # a kernel before 5.13, or one without Landlock
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


def _restrict_system_calls(libc: ctypes.CDLL) -> bool:
    if platform.machine() not in _ARCHITECTURES:
        return False
    architecture, column = _ARCHITECTURES[platform.machine()]
    numbers = [number for row in _FORBIDDEN.values() if (number := row[column]) is not None]
    failing = len(numbers) + 1  # from the first comparison to the instruction that fails
    program = [
        (_LOAD, 0, 0, 4),  # the architecture of the call
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _FAIL_WITH_EPERM),
        (_LOAD, 0, 0, 0),  # its number
        (_AT_LEAST, failing, 0, _X32_CALLS),
        *((_EQUAL, failing - 1 - place, 0, number) for place, number in enumerate(numbers)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _FAIL_WITH_EPERM),
    ]
    instructions = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in program))
    # struct sock_fprog: a length, and after padding a pointer.
    filter_program = struct.pack("@HP", len(program), ctypes.addressof(instructions))
    return bool(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, filter_program, 0, 0) == 0)
