"""Validation of uploads while the participant waits, in child processes that can be stopped."""

import logging
import uuid
from collections.abc import Collection
from pathlib import Path

import anyio

from vocboard.app.errors import TooLargeError
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import IncomingArchive
from vocboard.app.storage.stores import archive_store
from vocboard.app.submissions.reading_process import CHECK, GET_READY
from vocboard.app.submissions.report import EnteredCompetition, Report
from vocboard.app.submissions.turns import FairTurns
from vocboard.app.submissions.validation_processes import StoppedProcessError, ValidationProcesses
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems.server import (
    VALIDATION_STOPPED,
    VALIDATION_TAKES_TOO_LONG,
    VALIDATION_TAKES_TOO_MUCH_MEMORY,
)

__all__ = ["EnteredCompetition", "Report", "Validator"]

_STOPPED = Report((VALIDATION_STOPPED.at(),))
QUIET_SECONDS = 1.0  # the first requests after a start are not to share the processor

_log = logging.getLogger(__name__)


class Validator:
    """The checks of this web process: so many uploads at once, each within limits of time and memory.

    `FairTurns` says whose is next: nobody waits behind somebody's fifty.

    Args of the constructor:
        turns: by default as many at once as the settings say.
    """

    def __init__(self, settings: Settings, *, turns: FairTurns | None = None) -> None:
        self._seconds = settings.validation_time_limit.total_seconds()
        self._memory_limit = settings.validation_memory_limit_bytes
        self._turns = turns or FairTurns(settings.validation_processes)
        self._processes = ValidationProcesses(archive_store(settings).incoming)
        self._upload_expected = anyio.Event()

    @property
    def reading(self) -> int:
        """How many uploads are being read."""
        return self._turns.taken

    def expect_upload(self) -> None:
        """Say that an upload begins to arrive, so that a process is ready when it is there."""
        self._upload_expected.set()

    async def keep_ready(self) -> None:
        """Have a process started before it is needed: soon after this is called, then at each upload that is expected.

        Never returns; cancel it. A process that has read an upload stays and is ready for the next, so that this starts
        one only where none is left or all are busy.
        """
        with anyio.move_on_after(QUIET_SECONDS):
            await self._upload_expected.wait()
        while True:
            self._upload_expected = anyio.Event()
            await self._start_process()
            await self._upload_expected.wait()

    async def _start_process(self) -> None:
        """Start a process unless one is free, or as many read as may."""
        async with self._turns.free_place() as is_free:
            if not is_free:
                return
            try:
                await self._processes.run(GET_READY)
            except (StoppedProcessError, OSError):
                _log.warning("no process for validation could be started ahead", exc_info=True)

    async def validate(
        self,
        path: Path,
        *,
        owner: uuid.UUID,
        edition: Edition,
        image_sets: ImageSets,
        competitions: Collection[str],
        columns: IncomingArchive,
        segmentation_classes: Collection[str] | None = None,
    ) -> Report:
        """Read an upload completely and report on it; cancelling this kills the process that reads.

        Args:
            path: the upload.
            owner: the person whose it is.
            edition: the challenge's.
            image_sets: what is public of its test set.
            competitions: keys of those that the challenge runs.
            columns: takes what was read; of use if the report says that it has columns.
            segmentation_classes: declared by the participant; None for all.

        Raises:
            OSError: the disk is full.
        """
        async with self._turns.turn(owner):
            try:
                with anyio.fail_after(self._seconds):
                    report = await self._processes.run(
                        CHECK,
                        path,
                        edition,
                        image_sets,
                        tuple(competitions),
                        None if segmentation_classes is None else tuple(segmentation_classes),
                        self._memory_limit,
                        columns.limit,
                        sink=columns.write,
                    )
                    return report if report and _is_about(report, edition, competitions) else _STOPPED
            except TimeoutError:
                return Report((VALIDATION_TAKES_TOO_LONG.at(seconds=self._seconds),))
            except MemoryError:
                return Report((VALIDATION_TAKES_TOO_MUCH_MEMORY.at(),))
            except (StoppedProcessError, TooLargeError):  # ours send no more columns than they may
                return _STOPPED


def _is_about(report: Report, edition: Edition, competitions: Collection[str]) -> bool:
    """Whether a report, which a process made that reads what strangers sent, enters what can be entered."""
    return all(
        entry.competition in competitions and set(entry.classes) <= set(edition.competitions[entry.competition].classes)
        for entry in report.entries
    )
