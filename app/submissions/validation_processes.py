"""A pool of child processes that read uploads."""

import logging
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from vocboard.app.isolation.confinement import ALL_MECHANISMS
from vocboard.app.submissions.reading_process import ReadingProcess, Sink, StoppedProcessError
from vocboard.app.submissions.report import Report

__all__ = ["StoppedProcessError", "ValidationProcesses"]

_log = logging.getLogger(__name__)


class ValidationProcesses:
    """A pool of processes that handle one request each; started on demand and reused.

    Args of the constructor:
        uploads: the only data directory that they can read.
    """

    def __init__(self, uploads: Path) -> None:
        self._uploads = uploads
        self._idle: list[ReadingProcess] = []
        self._threads = anyio.CapacityLimiter(1000)  # never more than concurrent validations
        self._has_warned = False
        weakref.finalize(self, _end, self._idle)

    async def run(
        self, function: str | Callable[..., Any], *arguments: object, sink: Sink | None = None
    ) -> Report | None:
        """Call a function in a process. Cancelling this kills the process.

        Args:
            function: see `ReadingProcess.ask`.
            sink: called in a thread with each chunk that the function sends.

        Raises:
            MemoryError: the function needs more memory than allowed.
            StoppedProcessError: the process ended, or sent an invalid response.
        """
        process = self._taken()
        ask = partial(process.ask, function, *arguments, sink=sink)
        try:
            report = await anyio.to_thread.run_sync(ask, abandon_on_cancel=True, limiter=self._threads)
        except MemoryError:
            self._idle.append(process)
            raise
        except BaseException:  # also on cancellation; the thread ends with the process
            process.kill()
            raise
        self._warn(process)
        self._idle.append(process)
        return report

    def _taken(self) -> ReadingProcess:
        """Return an idle process, or a new one."""
        while self._idle:
            process = self._idle.pop()
            if process.is_alive:
                return process
            process.kill()
        self._uploads.mkdir(parents=True, exist_ok=True)
        return ReadingProcess(self._uploads)

    def _warn(self, process: ReadingProcess) -> None:
        missing = ALL_MECHANISMS - process.confined
        if missing and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "uploads are read without %s, which this system does not support; see docs/operators.md",
                ", ".join(sorted(missing)),
            )


def _end(processes: list[ReadingProcess]) -> None:
    while processes:
        processes.pop().kill()
