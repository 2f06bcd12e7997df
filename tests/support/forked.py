"""Processes of the program `vocboard` that need not import it: each is forked from one that has.

Importing what a worker needs takes a second of processor time, and the tests start hundreds of workers. What operators
do, to run the program itself, is tested in tests/deployment and in tests/commands/test_serve.py.

Usage of this module as a program: python -m tests.support.forked DESCRIPTOR (of a Unix socket; see `_serve`)
"""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

from vocboard.app.intake.confinement import end_with_parent

ROOT = Path(__file__).parents[2]
PROGRAM = "vocboard.commands.main"
# What `vocboard worker` and `vocboard beat` import; no more, because tests look at what is imported there.
IMPORTED = (
    "celery.apps.worker",
    "celery.concurrency.prefork",
    "celery.concurrency.solo",
    "psycopg",
    "vocboard.commands.beat",
    "vocboard.commands.worker",
    "vocboard.worker.celery_app",
    "vocboard.worker.ground_truth_directory",
    "vocboard.worker.mail",
)
_MAX_REQUEST_BYTES = 128 * 1024  # bytes


class Forked:
    """A process, with what tests need of `subprocess.Popen`.

    Args of the constructor:
        status: the reading end of a pipe: first comes the process's id, and when it has ended its exit status.
    """

    def __init__(self, status: IO[bytes]) -> None:
        self._status = status
        self.pid = self._next()
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, negative for a signal; None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(timeout=0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, and return the exit status.

        Raises:
            subprocess.TimeoutExpired: it is still running.
        """
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(["vocboard"], timeout or 0)
            self.returncode = self._next()
            self._status.close()
        return self.returncode

    def _next(self) -> int:
        line = self._status.readline()
        assert line, "the process that others are forked from does not run"
        return int(line)

    def terminate(self) -> None:
        """Ask it to end."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)


def start(
    command: Sequence[str], *, environment: Mapping[str, str], output: IO[bytes], program: str = PROGRAM
) -> Forked:
    """Run a command of the program in a process group of its own.

    Args:
        command: such as `worker`.
        environment: all of it.
        output: where what it prints goes.
        program: the module whose `main` runs it.
    """
    request = json.dumps({"program": program, "command": list(command), "environment": dict(environment)}).encode()
    reading, writing = os.pipe()
    status = open(reading, "rb", buffering=0)  # noqa: SIM115  # closed once the process has ended
    try:
        socket.send_fds(_origin(), [request], [output.fileno(), writing])
    finally:
        os.close(writing)
    return Forked(status)


@functools.cache
def _origin() -> socket.socket:
    """Start the process that others are forked from; return the socket that it takes requests from."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        origin = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forked", str(theirs.fileno())],
            cwd=ROOT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # threads would not survive the fork
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )

    def end() -> None:
        ours.close()
        origin.wait()

    atexit.register(end)
    return ours


def _serve(requests: socket.socket) -> None:
    """Fork a process for each request, until the other end of the socket is closed."""
    for module in IMPORTED:
        importlib.import_module(module)
    gc.freeze()  # collecting it in each process would copy it there
    signal.signal(signal.SIGCHLD, _bury)
    while True:
        content, descriptors, _, _ = socket.recv_fds(requests, _MAX_REQUEST_BYTES, 2)
        if not content:
            return
        if not os.fork():
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            output, status = descriptors
            _watch(json.loads(content), output, status)
        for descriptor in descriptors:
            os.close(descriptor)


def _bury(*_signal: object) -> None:
    """Wait for those that have ended, so that their processor time counts as this process's."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _watch(request: dict[str, Any], output: int, status: int) -> NoReturn:
    """Run the process, and tell its exit status.

    If pytest is killed, its end of the socket is closed, `_serve` ends, and with it this process and the one it runs.
    """
    end_with_parent()
    child = os.fork()
    if not child:
        _run(request, output, status)
    os.close(output)
    _, ended = os.waitpid(child, 0)
    os.write(status, f"{os.waitstatus_to_exitcode(ended)}\n".encode())
    os._exit(0)


def _run(request: dict[str, Any], output: int, status: int) -> NoReturn:
    """Become the process: tell its id, and run the program."""
    end_with_parent()
    os.setsid()
    os.write(status, f"{os.getpid()}\n".encode())
    os.close(status)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    os.close(output)
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.orig_argv[:] = [sys.executable, "-m", request["program"], *request["command"]]  # to restart itself with
    sys.exit(importlib.import_module(request["program"]).main(request["command"]))


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
