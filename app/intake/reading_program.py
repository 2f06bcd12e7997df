"""The program that reads uploads: one process for each, forked from one that never reads any.

`reading_process` starts it. It has no secrets in its environment, and one socket as its only open file. It imports what
reading can need, and gives up all files but Python's own. Each process that it forks gets one upload and two pipes, for
the request and the response. It limits itself, and gives up the system calls that it does not need, before it reads
(`confinement`). Requests are pickled, because these processes trust their parent. Responses are JSON, preceded by
chunks of a columns file, so that a process that was taken over cannot attack the parent.
"""

import gc
import json
import os
import pickle
import pkgutil
import socket
import struct
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

import vocboard
from vocboard import app, evaluator
from vocboard.app.intake.confinement import restrict_files, restrict_system_calls
from vocboard.app.intake.fork_server import serve
from vocboard.app.intake.process_limits import ProcessorTimeUsedUp, ReadingLimits
from vocboard.app.intake.report import Report

HEAD = struct.Struct("!cI")  # before every message from a process: its kind and its length
ANSWER, PIECE = b"A", b"P"
PIECE_BYTES = 1024 * 1024  # at most
_SYSTEM = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom", "/proc/cpuinfo")
_BEFORE_OTHERS = Path("/proc/self/oom_score_adj")  # the kernel ends these processes first where memory runs out
# Modules that others import when they are needed, because short commands seldom need them.
_IMPORTED_LATE = (
    "vocboard.app.intake.reader",
    "concurrent.futures.thread",
    "pyarrow.compute",
    "pyarrow.csv",
    "vocboard.evaluator.archives.tar_format",
    "vocboard.evaluator.archives.zip_format",
    "vocboard.evaluator.result_files.upload_facts",
    "vocboard.evaluator.problems.groups",
)


@dataclass(frozen=True, slots=True)
class Request:
    """What a process is to do with its upload.

    Attributes:
        function: a function that takes the upload and the arguments, or its module and name.
        sends_columns: whether it is also passed `send_columns`.
    """

    function: str | Callable[..., Report]
    arguments: tuple[object, ...]
    limits: ReadingLimits
    sends_columns: bool


class _Pieces:
    """Sends chunks of a file, from any thread, until the response is sent."""

    def __init__(self, target: BinaryIO) -> None:
        self._target: BinaryIO | None = target
        self._sending = threading.Lock()

    def send(self, content: bytes) -> None:
        with self._sending:
            for start in range(0, len(content), PIECE_BYTES):
                if self._target is not None:
                    _send(self._target, PIECE, memoryview(content)[start : start + PIECE_BYTES])

    def end(self) -> None:
        """Stop sending, even if threads are still reading: the response must be the last message."""
        with self._sending:
            self._target = None


def main() -> None:
    """Fork a process for each upload until the parent process ends."""
    control = socket.socket(fileno=os.dup(0))
    for name in _IMPORTED_LATE:
        import_module(name)
    with suppress(OSError):  # not on Linux
        _BEFORE_OTHERS.write_text("1000")
    gc.collect()
    gc.freeze()  # collecting it in each process would copy it there
    ours = [Path(directory) for package in (vocboard, app, evaluator) for directory in package.__path__]
    python = [Path(sys.prefix), Path(sys.base_prefix), *(Path(path) for path in sys.path if path.endswith("-packages"))]
    nothing = os.open(os.devnull, os.O_RDWR)
    confined = restrict_files([*python, *ours, *map(Path, _SYSTEM)])
    for descriptor in (0, 1, 2):  # output of libraries would be that of the web process
        os.dup2(nothing, descriptor)
    serve(control, confined, _read_one)


def _read_one(files: list[int]) -> None:
    """Read one upload, in a process of its own.

    Args:
        files: of the request, the response, and the upload.
    """
    requests, answers, opened = files
    with os.fdopen(requests, "rb") as source:
        request: Request = pickle.load(source)  # noqa: S301  # from the trusted parent process
    # By name, so that the parent need not import the code that reads uploads.
    function = pkgutil.resolve_name(request.function) if isinstance(request.function, str) else request.function
    target, upload = os.fdopen(answers, "wb"), os.fdopen(opened, "rb")
    request.limits.apply()
    _answer(target, {"confined": sorted(restrict_system_calls())})
    pieces = _Pieces(target)
    try:
        named = {"send_columns": pieces.send} if request.sends_columns else {}
        report: Report = function(upload, *request.arguments, **named)
    except MemoryError:
        answer: object = {"memory": "too much"}
    except ProcessorTimeUsedUp:
        answer = {"time": "too long"}
    except Exception:  # a bug, reported to the parent's log
        answer = {"failure": traceback.format_exc()}
    else:
        answer = {"report": report.as_json()}
    pieces.end()
    _answer(target, answer)


def _answer(target: BinaryIO, answer: object) -> None:
    _send(target, ANSWER, json.dumps(answer).encode())
    target.flush()


def _send(target: BinaryIO, kind: bytes, content: bytes | memoryview) -> None:
    target.write(HEAD.pack(kind, len(content)))
    target.write(content)
