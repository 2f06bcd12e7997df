"""What `test_isolation` tries in a process for validation; its text is sent there, since no file of the tests is."""

import builtins
import ctypes
import errno
import fcntl
import json
import mmap
import os
import resource
import signal
import socket
import sqlite3
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

from vocboard.app.intake.report import Report
from vocboard.evaluator.problems import Problem, Severity


def said(text: str) -> Report:
    """What a function that runs inside gives back: its report is all that comes out."""
    return Report((Problem("said", Severity.WARNING, text),))


def attempt(action: Callable[[], object]) -> str:
    try:
        return f"done: {action()!r}"
    except (OSError, ValueError, sqlite3.OperationalError) as error:
        return f"refused: {type(error).__name__}"


def inside_environment() -> Report:
    return said(json.dumps(dict(os.environ)))


def inside_descriptors() -> Report:
    found = {}
    for number in range(256):
        try:
            mode = os.fstat(number).st_mode
        except OSError:
            continue
        found[number] = f"{mode:o}"
    return said(json.dumps(found))


def inside_connect(port: int) -> Report:
    return said(attempt(lambda: socket.create_connection(("127.0.0.1", port), timeout=5)))


def inside_listen() -> Report:
    return said(attempt(lambda: socket.create_server(("127.0.0.1", 0))))


def inside_unix_socket() -> Report:
    return said(attempt(lambda: socket.socket(socket.AF_UNIX)))


def inside_read(path: str) -> Report:
    return said(attempt(lambda: Path(path).read_bytes()))


def inside_upload() -> Report:
    """Read what this process was given."""
    return said(attempt(lambda: os.pread(own_upload(), 100, 0)))


def own_upload() -> int:
    return next(number for number in range(3, 64) if mode_of(number) == 0o100000)


def inside_database(path: str) -> Report:
    return said(attempt(lambda: sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute("SELECT 1 FROM t")))


def inside_list(path: str) -> Report:
    return said(attempt(lambda: os.listdir(path)))


def inside_write(path: str) -> Report:
    return said(attempt(lambda: Path(path).write_bytes(b"mine")))


def inside_delete(path: str) -> Report:
    return said(attempt(lambda: os.unlink(path)))


def inside_run() -> Report:
    return said(attempt(lambda: subprocess.run(["/bin/true"], check=True)))


def inside_fork() -> Report:
    """Begin a process that goes on when this one is killed."""
    return said(attempt(os.fork))


def inside_clone3() -> Report:
    """Begin one by the call whose flags no filter can see."""
    flags, pid_descriptor, child_id, parent_id, stack, stack_bytes, thread_storage = [0] * 7
    arguments = struct.pack(
        "=8Q", flags, pid_descriptor, child_id, parent_id, signal.SIGCHLD, stack, stack_bytes, thread_storage
    )
    result = ctypes.CDLL(None, use_errno=True).syscall(435, arguments, len(arguments))
    if result == 0:
        os._exit(0)  # in the new process
    return said(f"{result} {errno.errorcode.get(ctypes.get_errno())}")


def inside_thread() -> Report:
    """Begin a thread, which libraries do."""
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append("ran"))
    thread.start()
    thread.join()
    return said(found[0])


def inside_limit(pid: int) -> Report:
    """Limit another process. This limit is harmless; one of its seconds on the processor would end it."""
    return said(attempt(lambda: resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))))


def inside_own_limit() -> Report:
    """Take more memory than is allowed: by a higher limit, and by memory that it does not count."""
    raised = attempt(lambda: resource.setrlimit(resource.RLIMIT_DATA, (8 << 30, 8 << 30)))
    return said(f"{raised}, {attempt(lambda: mmap.mmap(-1, 4096))}")


def inside_priority(pid: int) -> Report:
    """Put another process behind everything else, then all of a group, and tie it to a processor."""
    first = attempt(lambda: os.setpriority(os.PRIO_PROCESS, pid, 1))
    second = attempt(lambda: os.setpriority(os.PRIO_PGRP, 0, 1))
    third = attempt(lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid)))
    return said(f"{first}, {second}, {third}")


def inside_signal_by_pipe(pid: int) -> Report:
    """Have the kernel send a signal of one's choice when there is something to read."""
    reading, writing = os.pipe()
    tried = [
        attempt(lambda: fcntl.fcntl(reading, fcntl.F_SETOWN, pid)),
        attempt(lambda: fcntl.fcntl(reading, fcntl.F_SETSIG, signal.SIGUSR1)),
        attempt(lambda: fcntl.fcntl(reading, fcntl.F_SETLEASE, fcntl.F_RDLCK)),
    ]
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writing, b"x")
    return said(", ".join(tried))


def inside_touch(path: str) -> Report:
    """Change what is known of a file, and lock it, without writing to it."""
    descriptor = own_upload()
    tried = [
        attempt(lambda: os.utime(path, (0, 0))),
        attempt(lambda: os.utime(descriptor, (0, 0))),
        attempt(lambda: os.fchmod(descriptor, 0o777)),
        attempt(lambda: os.setxattr(path, "user.mine", b"mine")),
        attempt(lambda: os.truncate(path, 0)),
        attempt(lambda: fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)),
    ]
    return said(", ".join(tried))


def inside_shared_memory() -> Report:
    """Look for memory that the user's processes share, and for what happens to files."""
    libc = ctypes.CDLL(None, use_errno=True)
    results = [libc.shmget(0, 4096, 0o1600), libc.msgget(0, 0o1600), libc.semget(0, 1, 0o1600), libc.inotify_init1(0)]
    return said(json.dumps(results))


def inside_other_calls(allowed: list[int]) -> Report:
    """Make every other system call that there is, without arguments."""
    libc, found = ctypes.CDLL(None, use_errno=True), {}
    uprobes = {335, 336}  # x86-64: not filtered, and end a process that makes them itself
    for number in sorted(set(range(480)) - set(allowed) - uprobes):
        if libc.syscall(number, 0, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() not in {errno.EPERM, errno.ENOSYS}:
            found[number] = ctypes.get_errno()
    return said(json.dumps(found))


def inside_keep(size: int) -> Report:
    """Tell what an earlier upload has left behind, and leave something behind: in memory, and as a result."""
    found = [name for name in ("left_behind", "kept") if hasattr(builtins, name)]
    builtins.left_behind = bytearray(size)  # type: ignore[attr-defined]
    builtins.kept = found  # type: ignore[attr-defined]
    return said(json.dumps(found))


def inside_crash() -> Report:
    """Crash, as a parser with a bug does."""
    ctypes.string_at(0)
    raise AssertionError


def inside_spin() -> Report:
    """Use the processor, as slow parsing does, in code that tries again whatever happens."""
    while True:
        try:
            sum(range(10**6))
        except Exception:
            continue


def inside_sleep(seconds: float) -> Report:
    time.sleep(seconds)
    return said("awake")


def inside_answer(content: str) -> Report:
    """Answer with any text."""
    answer = content.encode()
    os.write(answers(), b"A" + len(answer).to_bytes(4, "big") + answer)
    return said("")


def inside_signal(pid: int) -> Report:
    return said(attempt(lambda: os.kill(pid, 0)))


def inside_pickle() -> Report:
    """Give back what runs code where it is unpickled."""
    os.write(answers(), b"A\x00\x00\x00\x13" + b"cos\nsystem\n(S'id'\ntR.")
    return said("")


def inside_pieces(number: int, size: int) -> Report:
    """Send pieces of columns, although nobody has asked for them, or for so many."""
    for _ in range(number):
        os.write(answers(), b"P" + size.to_bytes(4, "big"))
        left = size
        while left:
            left -= os.write(answers(), bytes(min(left, 65536)))
    return said("sent")


def answers() -> int:
    """The pipe to the web process, which an attacker in the process can find too."""
    return next(number for number in range(3, 64) if mode_of(number) == 0o010000 and is_writable(number))


def mode_of(number: int) -> int:
    """The kind of an open file; 0 if there is none."""
    try:
        return os.fstat(number).st_mode & 0o170000
    except OSError:
        return 0


def is_writable(number: int) -> bool:
    return fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY
