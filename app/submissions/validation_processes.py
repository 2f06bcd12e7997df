"""A pool of child processes that read uploads. They are trusted with nothing: see `validation_process`."""

import contextlib
import json
import logging
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

import anyio
import anyio.to_thread

from vocboard.app.isolation.confinement import ALL_MEANS
from vocboard.app.submissions.checking import Report
from vocboard.app.submissions.validation_process import LENGTH

ANSWER_LIMIT_BYTES = 64 * 1024 * 1024
_ENVIRONMENT = {"LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
_MODULE = "vocboard.app.submissions.validation_process"
_START = "import sys; sys.path[:] = {path!r}; from {module} import main; main({uploads!r})"

_log = logging.getLogger(__name__)


class StoppedProcessError(Exception):
    """A process ended, or answered what no process of ours does."""


class ValidationProcesses:
    """Processes that each do one thing at a time, started when there is none to spare, and kept for the next.

    Args of the constructor:
        uploads: the one directory of data that they can read.
    """

    def __init__(self, uploads: Path) -> None:
        self._uploads = uploads
        self._idle: list[_Process] = []
        self._threads = anyio.CapacityLimiter(1000)  # there are never more than validations at the same time
        self._has_warned = False
        weakref.finalize(self, _end, self._idle)

    async def run(self, function: Callable[..., Report | None], *arguments: object) -> Report | None:
        """Call a function in a process; cancelling this kills the process.

        Raises:
            MemoryError: it takes more memory than the process may have.
            StoppedProcessError: the process ended, or its answer is none.
        """
        request = pickle.dumps((function, arguments), protocol=pickle.HIGHEST_PROTOCOL)
        process = self._taken()
        try:
            answer = await anyio.to_thread.run_sync(process.ask, request, abandon_on_cancel=True, limiter=self._threads)
            report = _report_of(answer)
        except MemoryError:
            self._idle.append(process)
            raise
        except BaseException:  # also when cancelled; the thread ends with the process
            process.kill()
            raise
        self._warn(process)
        self._idle.append(process)
        return report

    def _taken(self) -> "_Process":
        """A process that is idle, or a new one."""
        while self._idle:
            process = self._idle.pop()
            if process.is_alive:
                return process
            process.kill()
        return _Process(self._uploads)

    def _warn(self, process: "_Process") -> None:
        missing = ALL_MEANS - process.confined
        if missing and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "uploads are read without %s, which this system does not have; see docs/operators.md",
                ", ".join(sorted(missing)),
            )


class _Process:
    """One child process.

    Attributes:
        confined: what it has given up, once it has answered.
    """

    def __init__(self, uploads: Path) -> None:
        uploads.mkdir(parents=True, exist_ok=True)
        start = _START.format(path=sys.path, module=_MODULE, uploads=str(uploads.resolve()))
        process = subprocess.Popen(  # noqa: S603  # our own program
            [sys.executable, "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_ENVIRONMENT,
            cwd="/",
            close_fds=True,  # the sockets that the web process listens on among them
            start_new_session=True,
        )
        self._process = process
        self._requests, self._answers = cast(BinaryIO, process.stdin), cast(BinaryIO, process.stdout)
        self.confined: frozenset[str] = frozenset()
        self._is_new = True

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked; an idle one may have been killed for its memory."""
        return self._process.poll() is None

    def ask(self, request: bytes) -> Any:
        """Send a request and wait for its answer, in a thread of its own."""
        try:
            if self._is_new:
                self.confined = frozenset(map(str, self._receive()["confined"]))
                self._is_new = False
            self._requests.write(LENGTH.pack(len(request)) + request)
            self._requests.flush()
            return self._receive()
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise StoppedProcessError from error

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._requests, self._answers):
            with contextlib.suppress(OSError):  # what was still to be written to a process that is gone
                pipe.close()

    def _receive(self) -> Any:
        head = self._answers.read(LENGTH.size)
        if len(head) != LENGTH.size or (length := LENGTH.unpack(head)[0]) > ANSWER_LIMIT_BYTES:
            raise ValueError("no answer")
        return json.loads(self._answers.read(length))


def _end(processes: list[_Process]) -> None:
    while processes:
        processes.pop().kill()


def _report_of(answer: Any) -> Report | None:
    """Read an answer, which may be anything if an upload has taken the process over.

    Raises:
        MemoryError: it says so.
        StoppedProcessError: it is none.
    """
    try:
        if "memory" in answer:
            raise MemoryError
        if "failure" in answer:
            _log.error("reading an upload failed: %r", answer["failure"])
            raise StoppedProcessError
        return None if answer["report"] is None else Report.from_json(answer["report"])
    except (ValueError, LookupError, TypeError) as error:
        raise StoppedProcessError from error
