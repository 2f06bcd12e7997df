"""Evaluates columns. This process can read the ground truth, so it does not open archives.

A confined process wrote the columns when the archive was uploaded. If they are missing or damaged, or do not match the
current reader and image sets, another confined process reads the archive again. Its columns are only used for this
evaluation, because the worker cannot write to the store.
"""

import logging
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, TypeVar, cast

from vocboard.app.evaluations.service import Diagnosis
from vocboard.app.intake.confinement import ReadingLimits
from vocboard.app.intake.reading import CHECK, ReadingProcess, reading_server
from vocboard.app.storage.archives import ArchiveStore, DamagedArchiveError
from vocboard.evaluator.diagnosis.summary import summarise
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.problems import Problem, Severity
from vocboard.evaluator.results import Results
from vocboard.evaluator.scoring import Confusions, Evaluation, score
from vocboard.evaluator.statistics.collect import collect_evidence
from vocboard.evaluator.statistics.evidence_file import Origin, store_evidence
from vocboard.evaluator.stored_results.columns_file import ColumnsError
from vocboard.evaluator.stored_results.reader_version import READER_VERSION
from vocboard.evaluator.stored_results.stored_results import StoredResults

MAX_EVIDENCE_BYTES = 256 * 1024**2  # of a competition; more is not stored, but collected again when it is needed
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


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A submission's files in the store.

    Attributes:
        archive_sha256: hash of the archive.
        columns_sha256: hash of the columns; None if they were not stored.
        columns_reader: version of the reader that wrote the columns.
        segmentation_classes: classes declared by the participant; None for all.
        has_archive: False if it was imported without its archive: files with these hashes are of others.
    """

    archive_sha256: str
    columns_sha256: str | None
    columns_reader: int | None
    segmentation_classes: tuple[str, ...] | None
    has_archive: bool


def evaluate(
    uploaded: Uploaded,
    store: ArchiveStore,
    edition: Edition,
    truth: GroundTruth,
    *,
    memory_limit_bytes: int,
) -> Evaluation:
    """Score a submission.

    Args:
        memory_limit_bytes: for a process that reads the archive again.

    Raises:
        UnscorableError: the archive was read again and has problems.
        DamagedArchiveError: the archive is needed, but its content does not match its hash.
        StoppedProcessError: the reading process ended.
        MemoryError: reading or evaluating needs too much memory.
        OSError: files cannot be read, or the disk is full.
    """

    def use(file: BinaryIO) -> Evaluation:
        results, matrices = _read(file, uploaded, edition, truth)
        return score(results, edition, truth, confusions=matrices)

    return _with_columns(uploaded, store, edition, truth, use, memory_limit_bytes=memory_limit_bytes)


def collect(
    uploaded: Uploaded,
    store: ArchiveStore,
    edition: Edition,
    truth: GroundTruth,
    competition: str,
    *,
    memory_limit_bytes: int,
) -> bytes | None:
    """Collect the evidence of one competition; None if it was not entered, or the ground truth lacks it.

    Raises:
        UnscorableError, DamagedArchiveError, StoppedProcessError, MemoryError, OSError: as for `evaluate`.
    """

    def use(file: BinaryIO) -> bytes | None:
        results, matrices = _read(file, uploaded, edition, truth)
        chosen = {key: entry for key, entry in results.items() if key == competition}
        evidence = collect_evidence(chosen, edition, truth, matrices).get(competition)
        origin = Origin(competition, truth.sha256, uploaded.archive_sha256)
        return None if evidence is None else store_evidence(evidence, origin)

    return _with_columns(uploaded, store, edition, truth, use, memory_limit_bytes=memory_limit_bytes)


def diagnose(
    uploaded: Uploaded,
    store: ArchiveStore,
    edition: Edition,
    truth: GroundTruth,
    *,
    with_boundaries: bool,
    memory_limit_bytes: int,
) -> Mapping[str, Diagnosis]:
    """Diagnose the errors of a submission, by competition.

    Args:
        with_boundaries: whether to count pixels near boundaries; see `Confusions`.

    Raises:
        UnscorableError, DamagedArchiveError, StoppedProcessError, MemoryError, OSError: as for `evaluate`.
    """

    def use(file: BinaryIO) -> Mapping[str, Diagnosis]:
        results, matrices = _read(file, uploaded, edition, truth, with_boundaries=with_boundaries)
        found = {}
        for key, entry in results.items():
            competition = entry.competition
            part = competition.task, competition.image_set
            if part in truth.truths:
                public, counts = truth.image_sets.sets[part], matrices.counts(competition)
                summary = summarise(entry, truth.truths[part], edition, public, counts)
                found[key] = Diagnosis(summary.exact, summary.by_image)
        return found

    return _with_columns(uploaded, store, edition, truth, use, memory_limit_bytes=memory_limit_bytes)


def _with_columns(
    uploaded: Uploaded,
    store: ArchiveStore,
    edition: Edition,
    truth: GroundTruth,
    use: Callable[[BinaryIO], Outcome],
    *,
    memory_limit_bytes: int,
) -> Outcome:
    if not uploaded.has_archive:
        raise UnscorableError("its archive was not imported with its challenge")
    if uploaded.columns_sha256 is not None and uploaded.columns_reader == READER_VERSION:
        try:
            with store.open(uploaded.columns_sha256) as file:
                return use(file)
        except (FileNotFoundError, DamagedArchiveError, ColumnsError) as error:
            _log.warning(
                "archive %s is read again, because its columns cannot be used: %s", uploaded.archive_sha256, error
            )
    with _read_again(uploaded, store, edition, truth, memory_limit_bytes) as file:
        return use(file)


def _read(
    file: BinaryIO, uploaded: Uploaded, edition: Edition, truth: GroundTruth, *, with_boundaries: bool = False
) -> tuple[Results, Confusions]:
    stored = StoredResults(file, edition, truth.image_sets, classes=uploaded.segmentation_classes)
    matrices = Confusions(truth, with_boundaries=with_boundaries)
    for competition, image, label_map in stored.label_maps():
        matrices.add(competition, image, label_map)
    return stored.results, matrices


@contextmanager
def _read_again(
    uploaded: Uploaded, store: ArchiveStore, edition: Edition, truth: GroundTruth, memory_limit_bytes: int
) -> Iterator[BinaryIO]:
    """Yield the columns of an archive, read in a confined process that gets no other file."""
    with store.local_file(uploaded.archive_sha256) as archive, tempfile.TemporaryFile() as file:
        server = reading_server()
        try:
            report = ReadingProcess(server).ask(
                archive,
                CHECK,
                edition,
                truth.image_sets,
                tuple(edition.competitions),
                uploaded.segmentation_classes,
                memory_limit_bytes,  # what does not fit in memory cannot be scored
                limits=ReadingLimits(memory_limit_bytes),
                sink=_Limited(cast(BinaryIO, file), memory_limit_bytes).write,
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
