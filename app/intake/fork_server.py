"""Forks a process for each piece of untrusted input, from one that has imported everything and has read none of it.

`ForkServer` is the side that wants processes. It starts a program, which confines itself and calls `serve`. For each
process, it passes open files over a Unix socket, the first of which is the reading end of a pipe: when its writing end
is closed, the process is killed. The program ends when `ForkServer` is closed or its process has ended. So nothing
outlives the process that wanted it, not even if that is killed.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress

from vocboard.app.intake.confinement import end_with_parent
from vocboard.evaluator import extensions

# One thread for all libraries: others would not survive the fork.
ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "PYTHONDONTWRITEBYTECODE": "1",
}
SECONDS_TO_START = 60.0
_SECONDS_TO_NOTICE = 2.0  # that the parent has ended, if another process has inherited its end of the socket
_FORK = b"f"
_MAX_FILES = 8
_MAX_READY_BYTES = 4096


class ForkServerError(Exception):
    """No process could be forked."""


class ForkServer:
    """A program that forks processes; it is started when it is needed, and again if it has ended. Thread-safe.

    Its owner closes it.

    Args of the constructor:
        program: Python code, which calls `serve` with the socket of the descriptor 0. Its argument is this process's
            id.

    Attributes:
        confinement: the mechanisms that the program says are in effect; known once it has started.
    """

    def __init__(self, program: str) -> None:
        self._program = program
        self._lock = threading.Lock()
        self._running: list[tuple[subprocess.Popen[bytes], socket.socket]] = []  # at most one
        self._is_closed = False
        self.confinement: frozenset[str] = frozenset()
        weakref.finalize(self, _end, self._running)

    def start(self) -> None:
        """Start the program, and wait until it can fork processes. Idempotent.

        Raises:
            ForkServerError: it did not start.
        """
        with self._lock:
            self._started()

    def fork(self, descriptors: Sequence[int]) -> None:
        """Fork a process that gets open files.

        Args:
            descriptors: the first is the reading end of a pipe, whose closing kills the process.

        Raises:
            ForkServerError: the program did not start, or ends each time.
        """
        with self._lock:
            for _ in range(2):
                control = self._started()
                try:
                    socket.send_fds(control, [_FORK], descriptors)
                except OSError:  # it has ended
                    _end(self._running)
                else:
                    return
        raise ForkServerError("the program that forks reading processes ends")

    def close(self) -> None:
        """End the program, even while it starts, and all processes that it has forked. It does not start again."""
        self._is_closed = True
        _end(self._running)

    def _started(self) -> socket.socket:
        if self._running:
            process, control = self._running[0]
            if process.poll() is None:
                return control
            _end(self._running)
        control, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: S603  # our own program
                [sys.executable, "-c", self._program, str(os.getpid())],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env=ENVIRONMENT | extensions.environment(),
                cwd="/",
                close_fds=True,  # including the web process's listening sockets
                start_new_session=True,
            )
        self._running.append((process, control))
        try:
            if self._is_closed:
                raise ValueError("closed")
            control.settimeout(SECONDS_TO_START)
            self.confinement = frozenset(map(str, json.loads(control.recv(_MAX_READY_BYTES))["confined"]))
            control.settimeout(None)
        except (OSError, ValueError, LookupError, TypeError) as error:
            _end(self._running)
            raise ForkServerError("the program that forks reading processes does not start") from error
        return control


def _end(running: list[tuple[subprocess.Popen[bytes], socket.socket]]) -> None:
    with suppress(IndexError):  # another thread has ended it
        while True:
            process, control = running.pop()
            process.kill()  # and with it, on Linux, its children
            process.wait()
            control.close()


def serve(control: socket.socket, confined: frozenset[str], run: Callable[[list[int]], object], *, parent: int) -> None:
    """Fork a process for each request, until the other end of the socket is closed, or the parent process has ended.

    Args:
        confined: mechanisms that are in effect, in this process or in those that it forks.
        run: called in each process with the files that were passed, except for the first one; it has no others.
        parent: the id of the parent process, which is the program's argument.
    """
    control.sendall(json.dumps({"confined": sorted(confined)}).encode())
    children: dict[int, int] = {}  # ids by the descriptor whose closing kills them
    poller = select.poll()
    poller.register(control, select.POLLIN)
    server = os.getpid()
    while os.getppid() == parent:
        for ready, _ in poller.poll(_SECONDS_TO_NOTICE * 1000):
            if ready != control.fileno():
                poller.unregister(ready)
                _kill(children.pop(ready))
                os.close(ready)
                continue
            content, descriptors, _, _ = socket.recv_fds(control, 1, _MAX_FILES)
            if not content:
                parent = 0
                break
            alive, *files = descriptors
            try:
                child = os.fork()
            except OSError:  # too many processes; the one that asked notices that its files are closed
                for file in descriptors:
                    os.close(file)
                continue
            if not child:
                end_with_parent()
                if os.getppid() != server:
                    os._exit(1)  # it ended before
                control.close()
                for other in (alive, *children):
                    os.close(other)
                try:
                    run(files)
                finally:
                    os._exit(0)
            children[alive] = child
            poller.register(alive, 0)  # only its end
            for file in files:
                os.close(file)
    for child in children.values():
        _kill(child)


def _kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
