"""Validation of uploads while the participant waits, in child processes that can be stopped."""

from collections.abc import Collection
from pathlib import Path

import anyio
import anyio.to_process
from anyio import BrokenWorkerProcess

from app.settings import Settings
from app.submissions.checking import EnteredCompetition, Report, check
from evaluator.image_sets import ImageSets
from evaluator.problems import Problem, Severity

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
                return _refusal(
                    "validation_takes_too_long",
                    f"Reading the upload took longer than {self._seconds:.0f} seconds. Enter fewer results at once.",
                )
            except MemoryError:
                return _refusal(
                    "validation_takes_too_much_memory",
                    "Reading the upload takes more memory than the server allows. Enter fewer results at once.",
                )
            except BrokenWorkerProcess:
                return _refusal(
                    "validation_stopped",
                    "The server had to stop reading the upload. Try again; if it happens again, tell the organisers.",
                )


def _refusal(code: str, message: str) -> Report:
    return Report((Problem(code, Severity.ERROR, message),))
