"""The parent's side of processes that read one upload each and are not trusted; see `reading_program`."""

import asyncio
import json
import logging
import os
import pickle
import select
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

import anyio
import anyio.to_thread

from vocboard.app.intake.confinement import ALL_MECHANISMS, ReadingLimits
from vocboard.app.intake.fork_server import ForkServer, ForkServerError
from vocboard.app.intake.report import ANSWER, HEAD, PIECE, PIECE_BYTES, Report, Request

CHECK = "vocboard.app.intake.reading_program:check"  # by name: only the child imports its module
ANSWER_LIMIT_BYTES = 64 * 1024 * 1024
_MAX_BYTES = {ANSWER: ANSWER_LIMIT_BYTES, PIECE: PIECE_BYTES}
_PROGRAM = "import sys; sys.path[:] = {path!r}; from vocboard.app.intake.reading_program import main; main()"
_SECONDS_TO_END = 10.0  # after a process was killed

Sink = Callable[[bytes], object]

_log = logging.getLogger(__name__)


class StoppedProcessError(Exception):
    """A process ended, or sent an invalid response."""


class TooLongError(Exception):
    """A process has used all of its processor time."""


def reading_server() -> ForkServer:
    """Return what processes that read uploads are forked from."""
    return ForkServer(_PROGRAM.format(path=sys.path))


class ReadingProcess:
    """A process that reads one upload.

    Args of the constructor:
        server: what it is forked from.

    Attributes:
        confined: the confinement in effect, once it has begun.
    """

    def __init__(self, server: ForkServer) -> None:
        self._server = server
        self._ended, self._lives = os.pipe()  # the process is killed when the latter is closed
        self._killing = threading.Lock()
        self.confined: frozenset[str] = frozenset()

    def ask(
        self,
        path: Path,
        function: str | Callable[..., Report],
        *arguments: object,
        limits: ReadingLimits,
        sink: Sink | None = None,
    ) -> Report:
        """Have the process read an upload with a function, and wait for its report and its end.

        Args:
            path: the upload.
            function: the function, or its module and name like `CHECK`. With a sink, it is also passed `send_columns`.
            sink: called with each chunk that the function sends.

        Raises:
            MemoryError: the function needs more memory than allowed.
            TooLongError: it needs more processor time than allowed.
            StoppedProcessError: the process ended, or sent an invalid response.
            OSError: the upload cannot be opened.
        """
        request = pickle.dumps(Request(function, arguments, limits, sink is not None), pickle.HIGHEST_PROTOCOL)
        try:
            with path.open("rb") as upload:
                requests, answers = self._forked(upload)
            with answers:
                try:
                    _send(requests, request)
                    self.confined = _confined(answers) | self._server.confinement
                    return _report(answers, sink)
                finally:
                    self.kill()
                    _wait_for_end(answers)
        finally:
            self.kill()
            os.close(self._ended)

    def kill(self) -> None:
        """Kill the process, from any thread; `ask` then ends. Idempotent."""
        with self._killing:
            if self._lives >= 0:
                os.close(self._lives)
                self._lives = -1

    def _forked(self, upload: BinaryIO) -> tuple[int, BinaryIO]:
        """Fork the process; return the ends of two pipes: for the request, and of the response."""
        theirs_requests, requests = os.pipe()
        answers, theirs_answers = os.pipe()
        try:
            self._server.fork([self._ended, theirs_requests, theirs_answers, upload.fileno()])
        except ForkServerError as error:
            os.close(requests)
            os.close(answers)
            raise StoppedProcessError from error
        finally:
            os.close(theirs_requests)
            os.close(theirs_answers)
        return requests, os.fdopen(answers, "rb")


def _send(descriptor: int, request: bytes) -> None:
    try:
        with os.fdopen(descriptor, "wb") as requests:
            requests.write(request)
    except OSError as error:
        raise StoppedProcessError from error


def _confined(answers: BinaryIO) -> frozenset[str]:
    try:
        return frozenset(map(str, json.loads(_receive(answers)[1])["confined"]))
    except (ValueError, LookupError, TypeError) as error:
        raise StoppedProcessError from error


def _report(answers: BinaryIO, sink: Sink | None) -> Report:
    while True:
        kind, content = _receive(answers)
        if kind == ANSWER:
            return _report_of(content)
        if sink is None:
            raise StoppedProcessError
        sink(content)


def _receive(answers: BinaryIO) -> tuple[bytes, bytes]:
    """Return the kind and the content of the next message."""
    try:
        head = answers.read(HEAD.size)
        if len(head) != HEAD.size:
            raise ValueError("no answer")
        kind, length = HEAD.unpack(head)
        if length > _MAX_BYTES[kind]:
            raise ValueError("response too long")
        content = answers.read(length)
    except (OSError, ValueError, LookupError) as error:
        raise StoppedProcessError from error
    if len(content) != length:
        raise StoppedProcessError
    return kind, content


def _wait_for_end(answers: BinaryIO) -> None:
    """Wait until a killed process has closed its files, which it does after its memory was freed."""
    ends_at = time.monotonic() + _SECONDS_TO_END
    poller = select.poll()
    poller.register(answers, select.POLLIN)
    while (left := ends_at - time.monotonic()) > 0 and poller.poll(left * 1000):
        if not os.read(answers.fileno(), PIECE_BYTES):
            return
    _log.error("a process that reads an upload does not end")


def _report_of(content: bytes) -> Report:
    """Parse a response, which may be arbitrary if an upload has compromised the process.

    Raises:
        MemoryError, TooLongError: the response reports one.
        StoppedProcessError: the response is invalid.
    """
    try:
        answer = json.loads(content)
        if "memory" in answer:
            raise MemoryError
        if "time" in answer:
            raise TooLongError
        if "failure" in answer:
            _log.error("reading an upload failed: %.10000r", answer["failure"])
            raise StoppedProcessError
        return Report.from_json(answer["report"])
    except (ValueError, LookupError, TypeError, RecursionError) as error:  # the last: a list in a list in a list ...
        raise StoppedProcessError from error


class ValidationProcesses:
    """Forks a process for each upload, which ends with it."""

    def __init__(self) -> None:
        self._server = reading_server()
        self._threads = anyio.CapacityLimiter(1000)  # never more than concurrent validations
        self._has_warned = False

    def close(self) -> None:
        """End all processes, and what they are forked from."""
        self._server.close()

    async def get_ready(self) -> None:
        """Start what processes are forked from, unless it is running."""
        try:
            await anyio.to_thread.run_sync(self._server.start, abandon_on_cancel=True, limiter=self._threads)
        except (ForkServerError, OSError):
            _log.warning("processes that read uploads cannot be started", exc_info=True)

    async def run(
        self,
        path: Path,
        function: str | Callable[..., Report],
        *arguments: object,
        limits: ReadingLimits,
        sink: Sink | None = None,
    ) -> Report:
        """Read an upload in a process of its own, which has ended when this does. Cancelling this kills the process.

        Args:
            path, function, limits: see `ReadingProcess.ask`.
            sink: called in a thread with each chunk that the function sends.

        Raises:
            MemoryError: the function needs more memory than allowed.
            TooLongError: it needs more processor time than allowed.
            StoppedProcessError: the process ended, or sent an invalid response.
            OSError: the upload cannot be opened.
        """
        process = ReadingProcess(self._server)
        ask = partial(process.ask, path, function, *arguments, limits=limits, sink=sink)
        asking = asyncio.create_task(anyio.to_thread.run_sync(ask, limiter=self._threads))
        try:
            await asyncio.wait([asking])
        finally:
            process.kill()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([asking])
            error = asking.exception()
        if error is not None:
            raise error
        self._warn(process)
        return asking.result()

    def _warn(self, process: ReadingProcess) -> None:
        missing = ALL_MECHANISMS - process.confined
        if missing and process.confined and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "uploads are read without %s, which this system does not support; see docs/operators.md",
                ", ".join(sorted(missing)),
            )
