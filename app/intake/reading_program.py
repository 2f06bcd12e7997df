"""The program that reads uploads: one process for each, forked from one that never reads any. No other imports it.

`reading` starts it. It has no secrets in its environment, and one socket as its only open file. It imports what
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
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

import vocboard
from vocboard import app, evaluator
from vocboard.app.intake.confinement import ProcessorTimeUsedUp, restrict_files, restrict_system_calls
from vocboard.app.intake.fork_server import serve
from vocboard.app.intake.report import ANSWER, HEAD, PIECE, PIECE_BYTES, EnteredCompetition, Report, Request
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.reading.results import read_results
from vocboard.evaluator.stored_results.stored_results import ResultsWriter

_SYSTEM = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom", "/proc/cpuinfo")
_BEFORE_OTHERS = Path("/proc/self/oom_score_adj")  # the kernel ends these processes first where memory runs out
# Modules that others import when they are needed, because short commands seldom need them.
_IMPORTED_LATE = (
    "PIL.Image",
    "PIL.ImageOps",
    "PIL.JpegImagePlugin",
    "PIL.PngImagePlugin",
    "PIL.WebPImagePlugin",
    "concurrent.futures.thread",
    "pyarrow.compute",
    "pyarrow.csv",
    "vocboard.app.intake.pictures",
    "vocboard.evaluator.archives.tar_format",
    "vocboard.evaluator.archives.zip_format",
    "vocboard.evaluator.reading.upload_facts",
    "vocboard.evaluator.problem_groups",
)


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
    serve(control, confined, _read_one, parent=int(sys.argv[1]))


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
    try:
        named = {"send_columns": partial(_send_columns, target)} if request.sends_columns else {}
        report: Report = function(upload, *request.arguments, **named)
    except MemoryError:
        answer: object = {"memory": "too much"}
    except ProcessorTimeUsedUp:
        answer = {"time": "too long"}
    except Exception:  # a bug, reported to the parent's log
        answer = {"failure": traceback.format_exc()}
    else:
        answer = {"report": report.as_json()}
    _answer(target, answer)


def _send_columns(target: BinaryIO, content: bytes) -> None:
    # The signal that the processor time is used up comes again every second, and must not cut a message short.
    handler = signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    for start in range(0, len(content), PIECE_BYTES):
        _send(target, PIECE, memoryview(content)[start : start + PIECE_BYTES])
    signal.signal(signal.SIGXCPU, handler)


def _answer(target: BinaryIO, answer: object) -> None:
    _send(target, ANSWER, json.dumps(answer).encode())
    target.flush()


def _send(target: BinaryIO, kind: bytes, content: bytes | memoryview) -> None:
    target.write(HEAD.pack(kind, len(content)))
    target.write(content)


def check(  # noqa: PLR0917  # requests pass arguments by position
    upload: BinaryIO,
    edition: Edition,
    image_sets: ImageSets,
    competitions: Collection[str],
    segmentation_classes: Sequence[str] | None,
    columns_limit_bytes: int,
    send_columns: Callable[[bytes], object],
) -> Report:
    """Read an upload completely, report its problems, and send the results as a columns file.

    Args:
        upload: open at its start.
        competitions: keys of the challenge's competitions.
        segmentation_classes: classes declared by the participant; None for all.
        columns_limit_bytes: maximum size of the columns file; sending stops at this size.
        send_columns: called with each chunk of the file.

    Raises:
        MemoryError: reading needs more memory.
    """
    writer = ResultsWriter(send_columns, edition, image_sets, limit=columns_limit_bytes)
    read = read_results(
        upload,
        edition,
        image_sets,
        competitions=competitions,
        segmentation_classes=segmentation_classes,
        segmentation_sink=writer.add_label_map,
    )
    entered = {key: tuple(entry.classes) for key, entry in read.results.items()} if read.is_valid else read.entered
    entries = tuple(EnteredCompetition(key, classes) for key, classes in entered.items())
    has_columns = read.is_valid and writer.finish(read.results)
    return Report(read.problems, entries, has_columns=has_columns, groups=read.groups, doubtful=read.doubtful)
