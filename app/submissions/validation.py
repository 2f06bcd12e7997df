"""Validates uploads in child processes that can be killed, while the participant waits."""

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
from vocboard.app.submissions.validation_processes import StoppedProcessError, ValidationProcesses
from vocboard.app.submissions.validation_turns import FairTurns
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems.server import (
    VALIDATION_STOPPED,
    VALIDATION_TAKES_TOO_LONG,
    VALIDATION_TAKES_TOO_MUCH_MEMORY,
)

__all__ = ["EnteredCompetition", "Report", "Validator"]

_STOPPED = Report((VALIDATION_STOPPED.at(),))
QUIET_SECONDS = 1.0  # leave the processor to the first requests after the start

_log = logging.getLogger(__name__)


class Validator:
    """Validates the uploads of this web process: a limited number at once, each with limits of time and memory.

    `FairTurns` decides whose upload is next, so that one person's fifty uploads do not block others.

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
        """Number of uploads that are being read."""
        return self._turns.taken

    def expect_upload(self) -> None:
        """Announce an upload, so that a process is ready when it has arrived."""
        self._upload_expected.set()

    async def keep_ready(self) -> None:
        """Start processes before they are needed: soon after this is called, and for each announced upload.

        Never returns; cancel it to stop. Processes are reused, so this only starts one if none is left or all are busy.
        """
        with anyio.move_on_after(QUIET_SECONDS):
            await self._upload_expected.wait()
        while True:
            self._upload_expected = anyio.Event()
            await self._start_process()
            await self._upload_expected.wait()

    async def _start_process(self) -> None:
        """Start a process unless one is idle or the limit is reached."""
        async with self._turns.free_place() as is_free:
            if not is_free:
                return
            try:
                await self._processes.run(GET_READY)
            except (StoppedProcessError, OSError):
                _log.warning("could not start a validation process in advance", exc_info=True)

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
        """Read an upload completely, and return the report. Cancelling this kills the reading process.

        Args:
            path: the upload.
            owner: id of the user.
            edition: the challenge's.
            image_sets: the public part of its test set.
            competitions: keys of the challenge's competitions.
            columns: receives the columns, which are valid if the report says so.
            segmentation_classes: classes declared by the participant; None for all.

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
            except (StoppedProcessError, TooLargeError):  # the reader never sends more than the limit
                return _STOPPED


def _is_about(report: Report, edition: Edition, competitions: Collection[str]) -> bool:
    """Whether a report from an untrusted process only has entries that the challenge allows."""
    return all(
        entry.competition in competitions and set(entry.classes) <= set(edition.competitions[entry.competition].classes)
        for entry in report.entries
    )
