"""Opens the columns of submissions. It reads no ground truth, and imports nothing that does.

A confined process wrote the columns when the archive was uploaded. If they are missing or damaged, or do not match the
current reader and image sets, another confined process reads the archive again. Its columns are only used once,
because the worker cannot write to the store.
"""

import logging
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, TypeVar, cast

from vocboard.app.intake.confinement import ReadingLimits
from vocboard.app.intake.reading import CHECK, ReadingProcess, reading_server
from vocboard.app.storage.archives import DamagedArchiveError
from vocboard.app.submissions.models import Uploaded
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems import Problem, Severity
from vocboard.evaluator.stored_results.columns_file import ColumnsError
from vocboard.evaluator.stored_results.reader_version import READER_VERSION
from vocboard.worker.process import Process

_MAX_PROBLEMS = 20  # that are listed
_MAX_FOR_OWNER = 3  # that a message to the owner names
Outcome = TypeVar("Outcome")

_log = logging.getLogger(__name__)


class UnscorableError(Exception):
    """An accepted submission cannot be scored, although its upload was valid."""


class OutdatedArchiveError(UnscorableError):
    """An accepted archive does not pass the challenge's current image sets and rules, or the server's current checks.

    Attributes:
        for_owner: says so to its owner, with the first problems. They are about the archive and what is public.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(_in_words(problems))
        errors = [problem for problem in problems if problem.severity is Severity.ERROR]
        named = " ".join(f"{_where(each)}{each.message}" for each in errors[:_MAX_FOR_OWNER])
        more = f" There are {len(errors) - _MAX_FOR_OWNER} more problems." if len(errors) > _MAX_FOR_OWNER else ""
        self.for_owner = (
            "The archive was accepted, but the challenge's image sets or rules, or the server's checks, have changed "
            f"since, and it does not pass any more: {named}{more} Submit corrected results; the challenge's page has "
            "the current image sets."
        )


def with_columns(
    uploaded: Uploaded,
    process: Process,
    edition: Edition,
    image_sets: ImageSets,
    use: Callable[[BinaryIO], Outcome],
) -> Outcome:
    """Return what `use` makes of a submission's columns.

    Args:
        image_sets: what the columns have to be read against.
        use: called with the open file, again if it raises `ColumnsError`.

    Raises:
        UnscorableError: there is no archive, or it was read again and has problems.
        DamagedArchiveError: the archive is needed, but its content does not match its hash.
        StoppedProcessError: the reading process ended.
        MemoryError: reading needs too much memory.
        OSError: files cannot be read, or the disk is full.
    """
    if not uploaded.has_archive:
        raise UnscorableError("its archive was not imported with its challenge")
    if uploaded.columns_sha256 is not None and uploaded.columns_reader == READER_VERSION:
        try:
            with process.store.open(uploaded.columns_sha256) as file:
                return use(file)
        except (FileNotFoundError, DamagedArchiveError, ColumnsError) as error:
            _log.warning(
                "archive %s is read again, because its columns cannot be used: %s", uploaded.archive_sha256, error
            )
    with _read_again(uploaded, process, edition, image_sets) as file:
        return use(file)


@contextmanager
def _read_again(uploaded: Uploaded, process: Process, edition: Edition, image_sets: ImageSets) -> Iterator[BinaryIO]:
    """Yield the columns of an archive, read in a confined process that gets no other file."""
    limit = process.settings.evaluation_memory_limit_bytes
    with process.store.local_file(uploaded.archive_sha256) as archive, tempfile.TemporaryFile() as file:
        server = reading_server()
        try:
            report = ReadingProcess(server).ask(
                archive,
                CHECK,
                edition,
                image_sets,
                tuple(edition.competitions),
                uploaded.segmentation_classes,
                limit,  # what does not fit in memory cannot be scored
                limits=ReadingLimits(limit),
                sink=_Limited(cast(BinaryIO, file), limit).write,
            )
        finally:
            server.close()
        if report.refuses:
            raise OutdatedArchiveError(report.problems)
        if not report.has_columns:
            raise MemoryError
        file.flush()
        yield cast(BinaryIO, file)


class _Limited:
    """A file with a size limit, for data from an untrusted process."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self._file, self._left = file, limit

    def write(self, content: bytes) -> None:
        self._left -= len(content)
        if self._left < 0:
            raise UnscorableError("reading the archive produced more columns than allowed")
        self._file.write(content)


def _in_words(problems: Iterable[Problem]) -> str:
    """Say what is wrong with an archive, a line for each problem."""
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    lines = [f"  {_where(each)}{each.message} ({each.code})" for each in errors[:_MAX_PROBLEMS]]
    if len(errors) > _MAX_PROBLEMS:
        lines.append(f"  and {len(errors) - _MAX_PROBLEMS} more")
    return "\n".join(["an accepted archive has problems:", *lines])


def _where(problem: Problem) -> str:
    if problem.file is None:
        return ""
    return f"{problem.file}: " if problem.line is None else f"{problem.file}, line {problem.line}: "
