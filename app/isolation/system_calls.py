"""The seccomp filter: system calls that a confined process may not make.

Most calls are blocked regardless of their arguments. A few are allowed only for the process itself. Sources:
seccomp(2), linux/seccomp.h, linux/bpf_common.h; numbers: asm/unistd_64.h (x86-64), asm-generic/unistd.h (arm64).
"""

import errno
import platform
import struct

Line = tuple[int, int, int, int]  # of a filter program: code, jumps if true and if false, operand
Numbers = tuple[int, int | None]  # of one call: (x86-64, arm64); None where there is no such call

# Blocked regardless of arguments.
FORBIDDEN: dict[str, Numbers] = {
    # Network.
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
    # Programs and processes.
    "execve": (59, 221),
    "execveat": (322, 281),
    "fork": (57, None),
    "vfork": (58, None),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    # Memory and queues that processes of the same user share.
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semctl": (66, 191),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # Changing, locking or watching files without opening them for writing.
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "truncate": (76, 45),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "flock": (73, 32),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    # Ways to bypass this filter, and kernel features that are not needed.
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
}
_CLONE = (56, 220)
_CLONE3 = (435, 435)
_FCNTL = (72, 25)
_PRLIMIT64 = (302, 261)
_SETPRIORITY = (141, 140)

_CLONE_THREAD = 0x10000
# Commands of fcntl that have a signal of one's choice sent to another process, or hold up others who open a file.
_FORBIDDEN_COMMANDS = (8, 10, 15, 1024, 1026)  # F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY
_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # linux/audit.h, and the column above
_X32_CALLS = 0x40000000  # a second set of numbers on x86-64
_LAYOUT = struct.Struct("=HBBI")
INSTRUCTION_BYTES = _LAYOUT.size
_LOAD, _JUMP, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS, _ARGUMENT_BYTES = 0, 4, 16, 8  # offsets in struct seccomp_data
_FAIL_WITH = 0x00050000  # SECCOMP_RET_ERRNO, the error in its lower half
_ALLOW: Line = (_RETURN, 0, 0, 0x7FFF0000)
_REFUSE: Line = (_RETURN, 0, 0, _FAIL_WITH | errno.EPERM)
_UNKNOWN: Line = (_RETURN, 0, 0, _FAIL_WITH | errno.ENOSYS)


def filter_program() -> bytes | None:
    """Return the filter for this machine, an array of struct sock_filter; None where its calls are not known."""
    if platform.machine() not in _ARCHITECTURES:
        return None
    architecture, column = _ARCHITECTURES[platform.machine()]
    numbers = [number for row in FORBIDDEN.values() if (number := row[column]) is not None]
    commands = len(_FORBIDDEN_COMMANDS)
    refusing = len(numbers) + 1  # instructions from the first comparison of a number to the one that refuses
    program: list[Line] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        _REFUSE,
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, refusing, 0, _X32_CALLS),
        *((_EQUAL, refusing - 1 - place, 0, number) for place, number in enumerate(numbers)),
        (_JUMP, 0, 0, 1),
        _REFUSE,
        # Threads, but no processes, which would go on when this one is killed. The flags of clone3 are in memory, out
        # of a filter's sight: where it is unknown, the C library uses clone.
        *_call(_CLONE3[column], [_UNKNOWN]),
        *_call(_CLONE[column], [_argument(0), (_ANY_BIT, 1, 0, _CLONE_THREAD), _REFUSE, _ALLOW]),
        # Limits and priority of this process alone. Another process of this user could be ended by a limit.
        *_call(_PRLIMIT64[column], [_argument(0), (_EQUAL, 1, 0, 0), _REFUSE, _ALLOW]),
        *_call(
            _SETPRIORITY[column],
            [_argument(0), (_EQUAL, 0, 2, 0), _argument(1), (_EQUAL, 1, 0, 0), _REFUSE, _ALLOW],
        ),
        *_call(
            _FCNTL[column],
            [
                _argument(1),
                *((_EQUAL, commands - place, 0, command) for place, command in enumerate(_FORBIDDEN_COMMANDS)),
                _ALLOW,
                _REFUSE,
            ],
        ),
        _ALLOW,
    ]
    return b"".join(_LAYOUT.pack(*line) for line in program)


def _call(number: int, body: list[Line]) -> list[Line]:
    """What happens at one call; expects its number loaded, and so does what follows."""
    return [(_EQUAL, 0, len(body), number), *body]


def _argument(index: int) -> Line:
    """Load the lower half of an argument, which is all that the kernel takes of an int."""
    return (_LOAD, 0, 0, _ARGUMENTS + _ARGUMENT_BYTES * index)
