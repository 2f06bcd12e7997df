"""The child process that reads uploads; `reading_process` starts it with `python -c`.

It is started without secrets in its environment, and with three pipes as its only open files. Before it reads an
upload, it drops all rights that it does not need (see `app.isolation.confinement`). Requests are pickled, because this
process trusts its parent. Responses are JSON, preceded by chunks of a columns file, so that a compromised child process
cannot attack the parent.
"""

import json
import os
import pickle
import pkgutil
import struct
import sys
import threading
import traceback
from functools import partial
from pathlib import Path
from typing import BinaryIO

import vocboard
from vocboard import app, evaluator
from vocboard.app.isolation.confinement import confine
from vocboard.app.isolation.process_limits import end_with_parent
from vocboard.app.submissions.report import Report

LENGTH = struct.Struct("!I")  # before every request
HEAD = struct.Struct("!cI")  # before every message from this process: its kind and its length
ANSWER, PIECE = b"A", b"P"
PIECE_BYTES = 1024 * 1024  # at most
_SYSTEM = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom", "/proc/cpuinfo")


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


def main(readable: str) -> None:
    """Handle requests until the parent process ends.

    Args:
        readable: the directory of incoming uploads, or a folder of archives.
    """
    end_with_parent()
    # Output of libraries must not mix with the responses.
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    ours = [Path(directory) for package in (vocboard, app, evaluator) for directory in package.__path__]
    python = [Path(sys.prefix), Path(sys.base_prefix), *(Path(path) for path in sys.path if path.endswith("-packages"))]
    _answer(answers, {"confined": sorted(confine([Path(readable), *python, *ours, *map(Path, _SYSTEM)]))})
    while request := _receive(requests):
        function, arguments, sends_columns = pickle.loads(request)  # noqa: S301  # from the trusted parent process
        pieces = _Pieces(answers)
        try:
            # By name, so that the parent need not import the code that reads uploads.
            called = pkgutil.resolve_name(function) if isinstance(function, str) else function
            if sends_columns:
                called = partial(called, send_columns=pieces.send)
            report: Report | None = called(*arguments)
        except MemoryError:
            answer: object = {"memory": "too much"}
        except Exception:  # a bug, reported to the parent's log
            answer = {"failure": traceback.format_exc()}
        else:
            answer = {"report": report.as_json() if report else None}
        pieces.end()
        _answer(answers, answer)


def _receive(source: BinaryIO) -> bytes:
    """Return the next message; empty at the end."""
    head = source.read(LENGTH.size)
    return source.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""


def _answer(target: BinaryIO, answer: object) -> None:
    _send(target, ANSWER, json.dumps(answer).encode())
    target.flush()


def _send(target: BinaryIO, kind: bytes, content: bytes | memoryview) -> None:
    target.write(HEAD.pack(kind, len(content)))
    target.write(content)
