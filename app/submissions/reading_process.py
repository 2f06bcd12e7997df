"""The parent's side of a child process that reads uploads and is not trusted; see `validation_process`."""

import contextlib
import json
import logging
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

from vocboard.app.submissions.report import Report
from vocboard.app.submissions.validation_process import ANSWER, HEAD, LENGTH, PIECE, PIECE_BYTES

CHECK = "vocboard.app.submissions.checking:check"  # by name: only the child imports its module
GET_READY = "vocboard.app.submissions.checking:get_ready"
ANSWER_LIMIT_BYTES = 64 * 1024 * 1024
_MAX_BYTES = {ANSWER: ANSWER_LIMIT_BYTES, PIECE: PIECE_BYTES}
_ENVIRONMENT = {"LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
_MODULE = "vocboard.app.submissions.validation_process"
_START = "import sys; sys.path[:] = {path!r}; from {module} import main; main({readable!r})"

Sink = Callable[[bytes], object]

_log = logging.getLogger(__name__)


class StoppedProcessError(Exception):
    """A process ended, or sent an invalid response."""


class ReadingProcess:
    """A child process that handles one request at a time.

    Args of the constructor:
        readable: the only data directory that it can read.

    Attributes:
        confined: the confinement in effect, known after the first response.
    """

    def __init__(self, readable: Path) -> None:
        start = _START.format(path=sys.path, module=_MODULE, readable=str(readable.resolve()))
        process = subprocess.Popen(  # noqa: S603  # our own program
            [sys.executable, "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_ENVIRONMENT,
            cwd="/",
            close_fds=True,  # including the web process's listening sockets
            start_new_session=True,
        )
        self._process = process
        self._requests, self._answers = cast(BinaryIO, process.stdin), cast(BinaryIO, process.stdout)
        self.confined: frozenset[str] = frozenset()
        self._is_new = True

    @property
    def is_alive(self) -> bool:
        """Whether the process is running; an idle one may have been killed to free memory."""
        return self._process.poll() is None

    def ask(self, function: str | Callable[..., Any], *arguments: object, sink: Sink | None = None) -> Report | None:
        """Call a function in the process, and wait for its report.

        Args:
            function: the function, or its module and name like `CHECK`. With a sink, it is also passed `send_columns`.
            sink: called with each chunk that the function sends. If it raises, the process can no longer be used.

        Raises:
            MemoryError: the function needs more memory than allowed; the process can still be used.
            StoppedProcessError: the process ended, or sent an invalid response.
        """
        request = pickle.dumps((function, arguments, sink is not None), protocol=pickle.HIGHEST_PROTOCOL)
        if self._is_new:
            self.confined = self._confined()
            self._is_new = False
        try:
            self._requests.write(LENGTH.pack(len(request)) + request)
            self._requests.flush()
        except (OSError, ValueError) as error:
            raise StoppedProcessError from error
        while True:
            kind, content = self._receive()
            if kind == ANSWER:
                return _report_of(content)
            if sink is None:
                raise StoppedProcessError
            sink(content)

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._requests, self._answers):
            with contextlib.suppress(OSError):  # unwritten data for a process that has ended
                pipe.close()

    def _confined(self) -> frozenset[str]:
        try:
            return frozenset(map(str, json.loads(self._receive()[1])["confined"]))
        except (ValueError, LookupError, TypeError) as error:
            raise StoppedProcessError from error

    def _receive(self) -> tuple[bytes, bytes]:
        """Return the kind and the content of the next message."""
        try:
            head = self._answers.read(HEAD.size)
            if len(head) != HEAD.size:
                raise ValueError("no answer")
            kind, length = HEAD.unpack(head)
            if length > _MAX_BYTES[kind]:
                raise ValueError("response too long")
            content = self._answers.read(length)
        except (OSError, ValueError, LookupError) as error:
            raise StoppedProcessError from error
        if len(content) != length:
            raise StoppedProcessError
        return kind, content


def _report_of(content: bytes) -> Report | None:
    """Parse a response, which may be arbitrary if an upload has compromised the process.

    Raises:
        MemoryError: the response reports one.
        StoppedProcessError: the response is invalid.
    """
    try:
        answer = json.loads(content)
        if "memory" in answer:
            raise MemoryError
        if "failure" in answer:
            _log.error("reading an upload failed: %.10000r", answer["failure"])
            raise StoppedProcessError
        return None if answer["report"] is None else Report.from_json(answer["report"])
    except (ValueError, LookupError, TypeError, RecursionError) as error:  # the last: a list in a list in a list ...
        raise StoppedProcessError from error
