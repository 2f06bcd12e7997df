"""Validation of uploads while the participant waits, in child processes that can be stopped."""

from collections.abc import Collection
from pathlib import Path

import anyio
import anyio.to_process
from anyio import BrokenWorkerProcess

from app.settings import Settings
from app.submissions.checking import EnteredCompetition, Report, check
from evaluator.catalogue.server import (
    VALIDATION_STOPPED,
    VALIDATION_TAKES_TOO_LONG,
    VALIDATION_TAKES_TOO_MUCH_MEMORY,
)
from evaluator.image_sets import ImageSets

__all__ = ["EnteredCompetition", "Report", "Validator"]


class Validator:
    """The checks of this web process: so many uploads at once, each within limits of time and memory."""

    def __init__(self, settings: Settings) -> None:
        self._seconds = settings.validation_time_limit.total_seconds()
        self._memory_limit = settings.validation_memory_limit_bytes
        self._turns = anyio.CapacityLimiter(settings.validation_processes)

    async def validate(
        self,
        path: Path,
        *,
        edition: str,
        image_sets: ImageSets,
        competitions: Collection[str],
        segmentation_classes: Collection[str] | None = None,
    ) -> Report:
        """Read an upload completely and report on it; cancelling this kills the process that reads.

        Args:
            path: the upload.
            edition: name of the challenge's edition.
            image_sets: what is public of its test set.
            competitions: keys of those that the challenge runs.
            segmentation_classes: declared by the participant; None for all.
        """
        async with self._turns:
            try:
                with anyio.fail_after(self._seconds):
                    return await anyio.to_process.run_sync(
                        check,
                        path,
                        edition,
                        image_sets,
                        tuple(competitions),
                        None if segmentation_classes is None else tuple(segmentation_classes),
                        self._memory_limit,
                        cancellable=True,
                        limiter=anyio.CapacityLimiter(1),  # our turn has been waited for outside of the time limit
                    )
            except TimeoutError:
                return Report((VALIDATION_TAKES_TOO_LONG.at(seconds=self._seconds),))
            except MemoryError:
                return Report((VALIDATION_TAKES_TOO_MUCH_MEMORY.at(),))
            except BrokenWorkerProcess:
                return Report((VALIDATION_STOPPED.at(),))
