"""What `test_isolation` tries in a process for validation; its text is sent there, since no file of the tests is."""

import fcntl
import json
import os
import socket
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

from vocboard.app.submissions.report import Report
from vocboard.evaluator.problems import Problem, Severity


def said(text: str) -> Report:
    """What a function that runs inside gives back: its report is all that comes out."""
    return Report((Problem("said", Severity.WARNING, text),))


def attempt(action: Callable[[], object]) -> str:
    try:
        return f"done: {action()!r}"
    except (OSError, sqlite3.OperationalError) as error:
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
    """The pipe to the web process, which whoever has taken the process over finds as well."""
    return next(number for number in range(3, 64) if is_pipe(number) and is_writable(number))


def is_pipe(number: int) -> bool:
    try:
        return os.fstat(number).st_mode & 0o170000 == 0o010000
    except OSError:
        return False


def is_writable(number: int) -> bool:
    return fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY
