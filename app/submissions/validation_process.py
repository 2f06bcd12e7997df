"""The child process that reads uploads: `python -c` of `validation_processes` starts it.

It has been started without secrets in its environment and with no open file but three pipes. Before it reads an upload
it gives up what it does not need (see `app.isolation.confinement`). Requests come pickled, since the web process is
trusted here; answers go back as JSON, since whoever has taken this process over must not be able to do the same to the
other.
"""

import json
import os
import pickle
import struct
import sys
import traceback
from pathlib import Path
from typing import BinaryIO

import vocboard
from vocboard import app, evaluator
from vocboard.app.isolation.confinement import confine
from vocboard.app.submissions.checking import Report

LENGTH = struct.Struct("!I")  # before every message
_SYSTEM = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom", "/proc/cpuinfo")


def main(uploads: str) -> None:
    """Answer requests until the web process goes away.

    Args:
        uploads: directory in which uploads lie while they are validated.
    """
    # Nothing that a library prints gets between the answers.
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    ours = [Path(directory) for package in (vocboard, app, evaluator) for directory in package.__path__]
    python = [Path(sys.prefix), Path(sys.base_prefix), *(Path(path) for path in sys.path if path.endswith("-packages"))]
    _send(answers, {"confined": sorted(confine([Path(uploads), *python, *ours, *map(Path, _SYSTEM)]))})
    while request := _receive(requests):
        function, arguments = pickle.loads(request)  # noqa: S301  # from the web process
        try:
            report: Report | None = function(*arguments)
        except MemoryError:
            _send(answers, {"memory": "too much"})
        except Exception:  # a mistake of ours, for the log
            _send(answers, {"failure": traceback.format_exc()})
        else:
            _send(answers, {"report": report.as_json() if report else None})


def _receive(source: BinaryIO) -> bytes:
    """The next message; empty at the end."""
    head = source.read(LENGTH.size)
    return source.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""


def _send(target: BinaryIO, answer: object) -> None:
    content = json.dumps(answer).encode()
    target.write(LENGTH.pack(len(content)) + content)
    target.flush()
