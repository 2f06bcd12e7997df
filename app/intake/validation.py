"""Validates uploads in child processes that can be killed, while the participant waits.

Whose upload is next: that of the person for whom least has been done recently. One upload per person is validated at a
time. If there are several slots, the last one is the express slot: only for small uploads of people and networks with
little recent validation time, and for a few seconds. So what takes long waits for other uploads that take long, with
any number of accounts, and small uploads pass.
"""

import time
from collections.abc import AsyncIterator, Callable, Collection, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import anyio

from vocboard.app.counters import UPLOAD_SECONDS
from vocboard.app.errors import InvalidInputError, TooLargeError
from vocboard.app.intake.confinement import ReadingLimits
from vocboard.app.intake.limits import Place
from vocboard.app.intake.pictures import NOT_A_PICTURE, REDRAW, REFUSALS, TOO_MUCH_WORK
from vocboard.app.intake.reading import CHECK, StoppedProcessError, TooLongError, ValidationProcesses
from vocboard.app.intake.report import Report
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import IncomingArchive
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems.server import (
    VALIDATION_STOPPED,
    VALIDATION_TAKES_TOO_LONG,
    VALIDATION_TAKES_TOO_MUCH_MEMORY,
)

REMEMBERED_FOR = timedelta(minutes=10)  # half-life of validation seconds
LIGHT_SECONDS = 15.0  # recent validation seconds up to which a person may use the express slot
EXPRESS_SECONDS = 3.0  # of processor time, after which the express slot is free for others
# So many people's seconds are allowed to those who share a network, and to all new accounts together.
NETWORK_SHARE, NEW_ACCOUNTS_SHARE = 4, 8
_NEW_ACCOUNTS = "new accounts"


@dataclass(eq=False, slots=True)
class _Turn:
    """A slot that is wanted or used."""

    uploader: Place
    is_small: bool
    is_express: bool = False
    began_at: float = 0.0
    called: anyio.Event = field(default_factory=anyio.Event)


class FairTurns:
    """A number of slots, assigned fairly to waiting requests.

    Args:
        places: number of slots.
        clock: monotonic seconds.
    """

    def __init__(self, places: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._express_places = 1 if places > 1 else 0
        self._places = places - self._express_places
        self._clock = clock
        self._waiting: list[_Turn] = []  # in order of arrival
        self._taken: list[_Turn] = []
        self._used: dict[Hashable, tuple[float, float]] = {}  # validation seconds, and when they were last updated

    @property
    def taken(self) -> int:
        """Number of slots in use."""
        return len(self._taken)

    @property
    def waiting(self) -> int:
        """Number of waiting uploads."""
        return len(self._waiting)

    @asynccontextmanager
    async def turn(self, uploader: Place, *, is_small: bool = True) -> AsyncIterator[bool]:
        """Wait for a slot, and hold it until the block ends.

        Yields:
            Whether it is the express slot, to be left after `EXPRESS_SECONDS`.
        """
        turn, asked_at = _Turn(uploader, is_small), self._clock()
        self._waiting.append(turn)
        self._call_next()
        try:
            await turn.called.wait()
            UPLOAD_SECONDS.labels("waiting").observe(turn.began_at - asked_at)
            yield turn.is_express
        finally:
            if turn in self._waiting:
                self._waiting.remove(turn)
            else:
                self._taken.remove(turn)
                seconds = self._clock() - turn.began_at
                UPLOAD_SECONDS.labels("reading").observe(seconds)
                self._charge(uploader, seconds)
            self._call_next()

    def _call_next(self) -> None:
        while (turn := self._next()) is not None:
            self._waiting.remove(turn)
            self._taken.append(turn)
            turn.began_at = self._clock()
            turn.called.set()

    def _next(self) -> _Turn | None:
        """Return who is next, if there is a slot for any."""
        express = sum(turn.is_express for turn in self._taken)
        is_free, is_express_free = self.taken - express < self._places, express < self._express_places
        people = {turn.uploader.user_id for turn in self._taken}
        candidates = [turn for turn in self._waiting if turn.uploader.user_id not in people]
        candidates.sort(key=lambda turn: self._burden(turn.uploader))  # among equals, the first to arrive
        for turn in candidates:
            is_light = turn.is_small and self._own_burden(turn.uploader) <= LIGHT_SECONDS
            if is_free or (is_express_free and is_light):
                turn.is_express = not is_free
                return turn
        return None

    def _burden(self, uploader: Place) -> float:
        """Return recent validation seconds: of the person, or the share in those of the network or of new accounts."""
        shared = self._recently(_NEW_ACCOUNTS) / NEW_ACCOUNTS_SHARE if uploader.is_new else 0.0
        return max(self._own_burden(uploader), shared)

    def _own_burden(self, uploader: Place) -> float:
        return max(self._recently(uploader.user_id), self._recently(uploader.network) / NETWORK_SHARE)

    def _charge(self, uploader: Place, seconds: float) -> None:
        for who in (uploader.user_id, uploader.network, *((_NEW_ACCOUNTS,) if uploader.is_new else ())):
            self._used[who] = (self._recently(who) + seconds, self._clock())

    def _recently(self, who: Hashable) -> float:
        """Return the decayed validation seconds; negligible values are deleted."""
        if who not in self._used:
            return 0.0
        seconds, at = self._used[who]
        left = float(seconds * 0.5 ** ((self._clock() - at) / REMEMBERED_FOR.total_seconds()))
        if left < 0.01:
            del self._used[who]
        return left


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

    def close(self) -> None:
        """End all processes that read uploads. Nothing can be validated any more."""
        self._processes.close()

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
        uploader: Place,
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

    async def redraw(self, path: Path, *, uploader: Place, size: tuple[int, int], drawn: IncomingArchive) -> None:
        """Re-encode an uploaded picture, as `pictures.redraw` does. Cancelling this kills the reading process.

        Args:
            path: the upload.
            uploader: whose turn it is.
            size: the most: width and height in pixels.
            drawn: receives the new file.

        Raises:
            InvalidInputError: why it is refused, on `file`.
            OSError: the disk is full.
        """
        limits = ReadingLimits(self._memory_limit, EXPRESS_SECONDS)
        try:
            async with self._turns.turn(uploader):
                with anyio.fail_after(PATIENCE * EXPRESS_SECONDS):
                    report = await self._processes.run(path, REDRAW, *size, limits=limits, sink=drawn.write)
            # The process is not trusted, so its words are not shown.
            refusal = report.problems[0].code if report.problems else "" if drawn.size else NOT_A_PICTURE
        except (MemoryError, TooLongError, TimeoutError):
            refusal = TOO_MUCH_WORK
        except (StoppedProcessError, TooLargeError):
            refusal = NOT_A_PICTURE
        if refusal:
            raise InvalidInputError({"file": REFUSALS.get(refusal, REFUSALS[NOT_A_PICTURE])})


def _is_about(report: Report, edition: Edition, competitions: Collection[str]) -> bool:
    """Whether a report from an untrusted process only has entries that the challenge allows."""
    return set(report.doubtful) <= set(competitions) and all(
        entry.competition in competitions and set(entry.classes) <= set(edition.competitions[entry.competition].classes)
        for entry in report.entries
    )
