"""Processes that read uploads, one for each."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from vocboard.app.intake.confinement import ALL_MECHANISMS
from vocboard.app.intake.fork_server import ForkServerError
from vocboard.app.intake.process_limits import ReadingLimits
from vocboard.app.intake.reading_process import ReadingProcess, Sink, StoppedProcessError, reading_server
from vocboard.app.intake.report import Report

__all__ = ["StoppedProcessError", "ValidationProcesses"]

_log = logging.getLogger(__name__)


class ValidationProcesses:
    """Forks a process for each upload, which ends with it."""

    def __init__(self) -> None:
        self._server = reading_server()
        self._threads = anyio.CapacityLimiter(1000)  # never more than concurrent validations
        self._has_warned = False

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
