"""Validates uploads in child processes that can be killed, while the participant waits."""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import anyio

from vocboard.app.errors import TooLargeError
from vocboard.app.intake.process_limits import ReadingLimits
from vocboard.app.intake.reading_process import CHECK, TooLongError
from vocboard.app.intake.report import EnteredCompetition, Report
from vocboard.app.intake.turns import EXPRESS_SECONDS, FairTurns, Uploader
from vocboard.app.intake.validation_processes import StoppedProcessError, ValidationProcesses
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import IncomingArchive
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems.server import (
    VALIDATION_STOPPED,
    VALIDATION_TAKES_TOO_LONG,
    VALIDATION_TAKES_TOO_MUCH_MEMORY,
)

__all__ = ["EnteredCompetition", "Report", "Validator"]

_STOPPED = Report((VALIDATION_STOPPED.at(),))
PATIENCE = 4  # so many times the limit of processor time by the clock, so that the load of the server does not decide
QUIET_SECONDS = 1.0  # leave the processor to the first requests after the start


class Validator:
    """Validates the uploads of this web process: a limited number at once, each with limits of time and memory.

    `FairTurns` decides whose upload is next, so that one person's fifty uploads do not block others.

    Args of the constructor:
        turns: by default as many at once as the settings say.
    """

    def __init__(self, settings: Settings, *, turns: FairTurns | None = None) -> None:
        self._seconds = settings.validation_time_limit.total_seconds()
        self._memory_limit = settings.validation_memory_limit_bytes
        self._small_bytes = settings.small_upload_bytes
        self._turns = turns or FairTurns(settings.validation_processes)
        self._processes = ValidationProcesses()
        self._upload_expected = anyio.Event()

    @property
    def reading(self) -> int:
        """Number of uploads that are being read."""
        return self._turns.taken

    def expect_upload(self) -> None:
        """Announce an upload, so that one can be read when it has arrived."""
        self._upload_expected.set()

    async def keep_ready(self) -> None:
        """Start what processes are forked from, soon after this is called, and again if it has ended.

        An upload that is announced starts it again. Never returns; cancel it to stop.
        """
        with anyio.move_on_after(QUIET_SECONDS):
            await self._upload_expected.wait()
        while True:
            self._upload_expected = anyio.Event()
            await self._processes.get_ready()
            await self._upload_expected.wait()

    async def validate(
        self,
        path: Path,
        *,
        uploader: Uploader,
        edition: Edition,
        image_sets: ImageSets,
        competitions: Collection[str],
        columns: IncomingArchive,
        segmentation_classes: Collection[str] | None = None,
    ) -> Report:
        """Read an upload completely, and return the report. Cancelling this kills the reading process.

        Args:
            path: the upload.
            uploader: whose turn it is.
            edition: the challenge's.
            image_sets: the public part of its test set.
            competitions: keys of the challenge's competitions.
            columns: receives the columns, which are valid if the report says so.
            segmentation_classes: classes declared by the participant; None for all.

        Raises:
            OSError: the disk is full.
        """

        async def read(seconds: float) -> Report | None:
            """Return None if it takes longer."""
            with anyio.move_on_after(PATIENCE * seconds), suppress(TooLongError):
                return await self._processes.run(
                    path,
                    CHECK,
                    edition,
                    image_sets,
                    tuple(competitions),
                    None if segmentation_classes is None else tuple(segmentation_classes),
                    columns.limit,
                    limits=ReadingLimits(self._memory_limit, seconds),
                    sink=columns.write,
                )
            return None

        is_small = (await anyio.Path(path).stat()).st_size <= self._small_bytes
        try:
            async with self._turns.turn(uploader, is_small=is_small) as is_express:
                is_limited = is_express and self._seconds > EXPRESS_SECONDS
                report = await read(EXPRESS_SECONDS if is_limited else self._seconds)
            if report is None and is_limited:
                columns.clear()
                async with self._turns.turn(uploader, is_small=False):
                    report = await read(self._seconds)
            if report is None:
                return Report((VALIDATION_TAKES_TOO_LONG.at(seconds=self._seconds),))
            return report if _is_about(report, edition, competitions) else _STOPPED
        except MemoryError:
            return Report((VALIDATION_TAKES_TOO_MUCH_MEMORY.at(),))
        except (StoppedProcessError, TooLargeError):  # the reader never sends more than the limit
            return _STOPPED


def _is_about(report: Report, edition: Edition, competitions: Collection[str]) -> bool:
    """Whether a report from an untrusted process only has entries that the challenge allows."""
    return set(report.doubtful) <= set(competitions) and all(
        entry.competition in competitions and set(entry.classes) <= set(edition.competitions[entry.competition].classes)
        for entry in report.entries
    )
