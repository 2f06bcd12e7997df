"""The seccomp filter: the system calls that a confined process may make. All others fail.

A confined process computes, in threads, reads files that it has or may open, and writes to pipes that it has. Some
calls are only allowed with certain arguments. Sources: seccomp(2), linux/seccomp.h, linux/bpf_common.h; numbers:
asm/unistd_64.h (x86-64), asm-generic/unistd.h (arm64).
"""

import errno
import platform
import struct

Line = tuple[int, int, int, int]  # of a filter program: code, jumps if true and if false, operand
Numbers = tuple[int | None, int | None]  # of one call: (x86-64, arm64); None where there is no such call

# Allowed with any arguments.
ALLOWED: dict[str, Numbers] = {
    # Open files, and what is known of files. Landlock limits which files can be opened.
    "read": (0, 63),
    "pread64": (17, 67),
    "readv": (19, 65),
    "preadv": (295, 69),
    "write": (1, 64),
    "writev": (20, 66),
    "close": (3, 57),
    "lseek": (8, 62),
    "fadvise64": (221, 223),
    "getdents64": (217, 61),
    "stat": (4, None),
    "fstat": (5, 80),
    "lstat": (6, None),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getcwd": (79, 17),
    "pipe2": (293, 59),
    "poll": (7, None),
    "ppoll": (271, 73),
    # Memory.
    "brk": (12, 214),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
    # Threads, their signals, and their end.
    "futex": (202, 98),
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "getcpu": (309, 168),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "exit": (60, 93),
    "exit_group": (231, 94),
    # Time, random numbers, and facts about this process and the machine.
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "getrandom": (318, 278),
    "getrusage": (98, 165),
    "getrlimit": (97, 163),
    "sysinfo": (99, 179),
    "uname": (63, 160),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
}
_OPEN, _OPENAT = (2, None), (257, 56)
_MMAP = (9, 222)
_CLONE = (56, 220)
_PRLIMIT64 = (302, 261)
_FCNTL = (72, 25)
_IOCTL = (16, 29)

_WRITING = 0o1 | 0o2 | 0o100 | 0o1000  # O_WRONLY, O_RDWR, O_CREAT, O_TRUNC
_MAP_SHARED = 0x1  # also a bit of MAP_SHARED_VALIDATE, and not of MAP_PRIVATE
_CLONE_THREAD = 0x10000
_COMMANDS = (1, 2, 3, 4)  # F_GETFD, F_SETFD, F_GETFL, F_SETFL
_REQUESTS = (0x5450, 0x5451)  # FIONCLEX, FIOCLEX
# From here on both architectures have the same numbers, and the C library uses older calls where there are none. This
# includes clone3, whose flags are in memory, out of a filter's sight.
_NEWER_CALLS = 424
_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # linux/audit.h, and the column above
_LAYOUT = struct.Struct("=HBBI")
INSTRUCTION_BYTES = _LAYOUT.size
_LOAD, _JUMP, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS, _ARGUMENT_BYTES, _UPPER_HALF = 0, 4, 16, 8, 4  # offsets in struct seccomp_data
_FAIL_WITH = 0x00050000  # SECCOMP_RET_ERRNO, the error in its lower half
_ALLOW: Line = (_RETURN, 0, 0, 0x7FFF0000)
_REFUSE: Line = (_RETURN, 0, 0, _FAIL_WITH | errno.EPERM)
_UNKNOWN: Line = (_RETURN, 0, 0, _FAIL_WITH | errno.ENOSYS)
_NO_TERMINAL: Line = (_RETURN, 0, 0, _FAIL_WITH | errno.ENOTTY)


def filter_program() -> bytes | None:
    """Return the filter for this machine, an array of struct sock_filter; None where its calls are not known."""
    if platform.machine() not in _ARCHITECTURES:
        return None
    architecture, column = _ARCHITECTURES[platform.machine()]
    numbers = [number for row in ALLOWED.values() if (number := row[column]) is not None]
    program: list[Line] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        _REFUSE,
        (_LOAD, 0, 0, _NUMBER),
        *((_EQUAL, len(numbers) - place, 0, number) for place, number in enumerate(numbers)),
        (_JUMP, 0, 0, 1),
        _ALLOW,
        (_AT_LEAST, 0, 1, _NEWER_CALLS),
        _UNKNOWN,
        *_call(_OPEN[column], [_argument(1), (_ANY_BIT, 0, 1, _WRITING), _REFUSE, _ALLOW]),
        *_call(_OPENAT[column], [_argument(2), (_ANY_BIT, 0, 1, _WRITING), _REFUSE, _ALLOW]),
        # Limits of memory do not count what is shared.
        *_call(_MMAP[column], [_argument(3), (_ANY_BIT, 0, 1, _MAP_SHARED), _REFUSE, _ALLOW]),
        # Threads, but no processes, which would go on when this one is killed.
        *_call(_CLONE[column], [_argument(0), (_ANY_BIT, 1, 0, _CLONE_THREAD), _REFUSE, _ALLOW]),
        # Limits of this process can be read, and none set.
        *_call(_PRLIMIT64[column], [*_zero(_argument(0)), *_zero(_argument(2)), *_zero(_upper_half(2)), _ALLOW]),
        *_call(_FCNTL[column], [_argument(1), *_one_of(_COMMANDS, _REFUSE)]),
        *_call(_IOCTL[column], [_argument(1), *_one_of(_REQUESTS, _NO_TERMINAL)]),
        _REFUSE,
    ]
    return b"".join(_LAYOUT.pack(*line) for line in program)


def _call(number: int | None, body: list[Line]) -> list[Line]:
    """What happens at one call; expects its number loaded, and so does what follows."""
    return [] if number is None else [(_EQUAL, 0, len(body), number), *body]


def _zero(part: Line) -> list[Line]:
    """Refuse an argument that is not zero."""
    return [part, (_EQUAL, 1, 0, 0), _REFUSE]


def _one_of(values: tuple[int, ...], otherwise: Line) -> list[Line]:
    """Allow some values of the loaded argument."""
    return [*((_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)), otherwise, _ALLOW]


def _argument(index: int) -> Line:
    """Load the lower half of an argument, which is all that the kernel takes of an int."""
    return (_LOAD, 0, 0, _ARGUMENTS + _ARGUMENT_BYTES * index)


def _upper_half(index: int) -> Line:
    return (_LOAD, 0, 0, _ARGUMENTS + _ARGUMENT_BYTES * index + _UPPER_HALF)
