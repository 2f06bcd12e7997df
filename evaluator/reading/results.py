"""Reads result files in an archive or directory as columns, and reports all problems."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from vocboard.evaluator.archives import UPLOAD_LIMITS, ArchiveError, ArchiveLimits, Member, members
from vocboard.evaluator.editions import Competition, Edition, Task
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems import Kind, Problem, Share, counted, has_errors, quoted
from vocboard.evaluator.problems.files import COMPETITION_NOT_OPEN, DUPLICATE_FILE, NO_RESULT_FILES, UNKNOWN_FILE
from vocboard.evaluator.problems.reported import ReportedProblems
from vocboard.evaluator.reading.file_names import FileNames
from vocboard.evaluator.reading.unrecognised_files import UnrecognisedFile, UnrecognisedFiles, look_at
from vocboard.evaluator.result_files.doubtful import doubtful_share, note_convention
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.names import FileName
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Results, SegmentationSink
from vocboard.evaluator.tasks.format import ResultFiles, Upload
from vocboard.evaluator.tasks.parts import task_classes

if TYPE_CHECKING:
    from vocboard.evaluator.problem_groups import ProblemGroup

FORMATS: Mapping[Task, type[ResultFiles]] = task_classes("format", ResultFiles)
_MAX_EXPLAINED = 1_000  # maximum number of unrecognised files with a specific explanation


@dataclass(frozen=True, eq=False, slots=True)
class ReadResults:
    """The content of an upload.

    Attributes:
        results: from valid files only; complete if there are no errors.
        problems: ordered by file, then by line.
        groups: the same problems by cause, with the number of those that are not listed; errors first.
        doubtful: by competition, how many of its results warnings are about, if they are more than a quarter: the
            server asks before it accepts them.
        entered: the classes of each competition that has result files, in the edition's order, also if the files have
            errors; empty if not all files could be read.
    """

    results: Results
    problems: tuple[Problem, ...]
    groups: "tuple[ProblemGroup, ...]" = ()
    entered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    doubtful: Mapping[str, Share] = field(default_factory=dict)

    @property
    def is_valid(self) -> bool:
        """Whether the upload has no errors."""
        return not has_errors(self.problems)


def read_results(
    source: Path | BinaryIO,
    edition: Edition,
    image_sets: ImageSets | None,
    *,
    competitions: Collection[str] | None = None,
    segmentation_classes: Sequence[str] | None = None,
    segmentation_sink: SegmentationSink | None = None,
    limits: ArchiveLimits = UPLOAD_LIMITS,
    other_editions: Sequence[Edition] = (),
    progress: Callable[[int], None] | None = None,
) -> ReadResults:
    """Read and check every result file of an archive or directory.

    Args:
        source: archive (tar, plain or compressed, or zip) or directory; or an archive that is open at its start.
        edition: defines the file names and classes.
        image_sets: the public part of the test data. Without it, identifiers and image sizes are not checked, and items
            are numbered in order of appearance.
        competitions: keys of the challenge's competitions. Default: all competitions of the edition.
        segmentation_classes: classes that the participant declared. Default: all classes of the edition.
        segmentation_sink: called for each valid label map, from several threads, with its competition, the position of
            its image, and (height, width) uint8 class indices, 0 for background. What it returns is called in the order
            of the files.
        limits: limits of the archive.
        other_editions: the same edition for other image sets, whose files are ignored, because they are read
            separately.
        progress: called with the number of files read.

    Raises:
        ValueError: the edition does not have some of `competitions` or `segmentation_classes`.
        OSError: `source` itself cannot be read.
    """
    reader = _Reader(
        edition, image_sets, competitions, segmentation_classes, segmentation_sink, other_editions=other_editions
    )
    try:
        for member in members(source, limits, reader.archive.note):
            reader.take(member)
            if progress is not None:
                progress(1)
    except ArchiveError as error:
        reader.wait()
        return ReadResults(reader.results(), (error.problem, *reader.problems()), reader.groups(error.problem))
    reader.finish()
    return ReadResults(
        reader.results(), reader.problems(), reader.groups(), reader.entered(), doubtful=reader.doubtful()
    )


class _Reader:
    """Reads the members of one upload, in order."""

    def __init__(
        self,
        edition: Edition,
        image_sets: ImageSets | None,
        competitions: Collection[str] | None,
        segmentation_classes: Sequence[str] | None,
        segmentation_sink: SegmentationSink | None,
        *,
        other_editions: Sequence[Edition],
    ):
        declared = edition.classes if segmentation_classes is None else segmentation_classes
        self.archive = FileReport(None)
        self._reports = [self.archive]
        self._edition = edition
        self._open = _known(edition.competitions if competitions is None else competitions, edition.competitions)
        self._names = FileNames(edition, self._open)
        self._others = [FileNames(other) for other in other_editions]
        self._taken = self._passed_over = 0
        self._image_sets = image_sets
        self._segmentation_classes = _known(declared, edition.classes)
        self._sink = segmentation_sink
        self._items: dict[tuple[Task, str], Items] = {}
        self._unrecognised: list[UnrecognisedFile] = []
        self._closed: dict[str, list[str]] = {}
        self._member_of: dict[FileName, str] = {}
        self._repeated: list[tuple[FileName, str]] = []
        self._files: dict[str, ResultFiles] = {}  # by competition

    def take(self, member: Member) -> None:
        """Read one member, and report its problems."""
        self._taken += 1
        name = self._names.identify(member.name)
        if name is None and any(other.identify(member.name) for other in self._others):
            self._passed_over += 1
        elif name is None:
            self._unrecognised.append(look_at(member))
        elif name.competition.key not in self._open:
            self._closed.setdefault(name.competition.key, []).append(member.name)
        elif name in self._member_of:
            self._refuse_second(name, member)
        else:
            self._member_of[name] = member.name
            self._read(name, member)

    def wait(self) -> None:
        """Wait until all members have been read."""
        for files in self._files.values():
            files.wait()

    def finish(self) -> None:
        """Report problems of the upload as a whole."""
        self._explain_unrecognised()
        for key, names in self._closed.items():
            count = counted(len(names), "file")
            held = ", ".join(self._open)
            self.archive.add(
                COMPETITION_NOT_OPEN, file=names[0], is_listed=True, count=count, competition=key, open=held
            )
        self._note_habits()
        for files in self._files.values():
            files.finish()
        for key in self._files:
            note_convention(key, self._reports_of(key), self.archive)

    def _note_habits(self) -> None:
        with_habit: dict[Kind, list[str]] = {}
        for report in self._reports:
            for kind in sorted(report.habits, key=lambda kind: kind.code):
                with_habit.setdefault(kind, []).append(str(report.file))
        for kind, files in with_habit.items():
            has = "has" if len(files) == 1 else "have"
            self.archive.add(kind, file=files[0], count=counted(len(files), "file"), has=has)

    def doubtful(self) -> dict[str, Share]:
        """By competition, how many of its results warnings are about, where they are more than a quarter."""
        shares = {key: doubtful_share(self._reports_of(key)) for key in self._files}
        return {key: share for key, share in shares.items() if share is not None}

    def _reports_of(self, competition: str) -> list[FileReport]:
        return [report for report in self._reports if report.competition == competition]

    def problems(self) -> tuple[Problem, ...]:
        """The problems of the whole archive, then those of its files, in order."""
        return tuple(problem for report in self._reports for problem in report.problems())

    def groups(self, *first: Problem) -> "tuple[ProblemGroup, ...]":
        """The problems by cause, after those of the archive itself."""
        reported = [report.reported() for report in self._reports]
        if not first and not any(report.problems for report in reported):
            return ()
        # Imported where they are needed, because most uploads have no problems.
        from vocboard.evaluator.problem_groups import grouped  # noqa: PLC0415
        from vocboard.evaluator.reading.upload_facts import facts_of  # noqa: PLC0415

        facts = facts_of(
            self._edition,
            [self._edition.competitions[key] for key in self._open],
            member_of=self._member_of,
            repeated=self._repeated,
            unrecognised=[file.name for file in self._unrecognised],
            file_count=self._taken,
            items_of=self._items_of,
        )
        return grouped([ReportedProblems(first), *reported], facts)

    def results(self) -> Results:
        """The valid results, in the edition's order."""
        entries = {key: self._files[key].entry() for key in self._edition.competitions if key in self._files}
        return {key: entry for key, entry in entries.items() if entry is not None}

    def entered(self) -> dict[str, tuple[str, ...]]:
        """The classes that have a result file, valid or not; all classes where one file has those of all."""
        found: dict[str, set[str | None]] = {}
        for name in self._member_of:
            found.setdefault(name.competition.key, set()).add(name.label)
        return {
            key: tuple(label for label in competition.classes if label in found[key] or None in found[key])
            for key, competition in self._edition.competitions.items()
            if key in found
        }

    def _read(self, name: FileName, member: Member) -> None:
        key = name.competition.key
        if key not in self._files:
            self._files[key] = FORMATS[name.competition.task](self._upload(name.competition))
        self._files[key].take(name, member)

    def _upload(self, competition: Competition) -> Upload:
        return Upload(
            competition,
            self._edition,
            self._items_of(competition),
            declared_classes=self._segmentation_classes,
            segmentation_sink=self._sink,
            new_report=partial(self._report, competition=competition.key),
        )

    def _items_of(self, competition: Competition) -> Items:
        key = competition.task, competition.image_set
        if key not in self._items:
            self._items[key] = Items.among(*key, {} if self._image_sets is None else self._image_sets.sets)
        return self._items[key]

    def _report(self, file: str, competition: str | None = None) -> FileReport:
        report = FileReport(file, competition)
        self._reports.append(report)
        return report

    def _refuse_second(self, name: FileName, member: Member) -> None:
        self._repeated.append((name, member.name))
        what = " ".join(filter(None, (name.competition.key, name.label, name.image)))
        self._report(member.name).add(
            DUPLICATE_FILE, what=what, first=quoted(self._member_of[name]), second=quoted(member.name)
        )

    def _explain_unrecognised(self) -> None:
        if not self._unrecognised and (self._member_of or self._closed):
            return  # the common case; saves a few milliseconds
        unrecognised = UnrecognisedFiles(self._edition, self._names)
        explained = self._unrecognised
        if not self._member_of and not self._closed:
            explained = [file for file in self._unrecognised[:_MAX_EXPLAINED] if unrecognised.is_explained(file)]
            if not explained and (self._unrecognised or not self.archive.has_errors):
                self._refuse_all()
        for number, file in enumerate(explained):
            kind, found = unrecognised.problem(file) if number < _MAX_EXPLAINED else (UNKNOWN_FILE, {})
            self.archive.add(kind, file=file.name, **found)

    def _refuse_all(self) -> None:
        found, expected = "It is empty", f"expected {self._names.examples()}"
        if self._passed_over:
            found = f"It holds {counted(self._passed_over, 'file')} of other image sets"
        elif self._unrecognised:
            first, count = self._unrecognised[0].name, counted(len(self._unrecognised), "file")
            found, expected = f"It holds {count}, the first is {quoted(first)}", self._names.expectation(first)
        self.archive.add(NO_RESULT_FILES, edition=self._edition.name, found=found, expected=expected)


def _known(names: Collection[str], known: Collection[str]) -> tuple[str, ...]:
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise ValueError(f"{', '.join(map(repr, unknown))}: not among {', '.join(known)}")
    return tuple(name for name in known if name in names)
