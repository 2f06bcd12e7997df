"""Base classes for reading the result files of a competition."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from vocboard.evaluator.archives import Member
from vocboard.evaluator.problems import counted
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.names import FileName
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Entry, SegmentationSink
from vocboard.evaluator.rules import Competition, Edition

Content = TypeVar("Content")


@dataclass(frozen=True, eq=False, slots=True)
class Upload:
    """The context for reading the files of one competition.

    Attributes:
        items: the test items of the competition.
        declared_classes: classes that the participant declared, if files do not say.
        segmentation_sink: called with each valid label map; see `evaluator.reading.results.read_results`.
        new_report: returns a new report for the problems of a file, by the file's name.
    """

    competition: Competition
    edition: Edition
    items: Items
    declared_classes: tuple[str, ...]
    segmentation_sink: SegmentationSink | None
    new_report: Callable[[str], FileReport]


class ResultFiles(ABC):
    """The result files of one competition in an upload. Each task has a subclass."""

    def __init__(self, upload: Upload) -> None:
        """Create an empty collection."""
        self.upload = upload

    @abstractmethod
    def take(self, name: FileName, member: Member) -> None:
        """Read one file, and report its problems at the latest by the end of `wait`."""

    def wait(self) -> None:  # noqa: B027  # most tasks read synchronously
        """Wait until all files have been read."""

    def finish(self) -> None:  # noqa: B027  # most tasks have no such problems
        """Report problems of all files together."""

    @abstractmethod
    def entry(self) -> Entry | None:
        """Return the content of the valid files; None if there is none."""

    @staticmethod
    @abstractmethod
    def extent(content: Any) -> str:
        """Say how much an entry's content is: `12 layouts`."""


class FilesByClass(ResultFiles, Generic[Content]):
    """One file for each class."""

    def __init__(self, upload: Upload) -> None:
        """Create an empty collection."""
        super().__init__(upload)
        self.content: dict[str, Content] = {}

    def take(self, name: FileName, member: Member) -> None:
        """Read the file of one class."""
        content = self.read(member.read(), self.upload.new_report(member.name))
        if content is not None:
            self.content[str(name.label)] = content

    def entry(self) -> Entry | None:
        """Return the content of the valid files, by class."""
        if not self.content:
            return None
        competition = self.upload.competition
        entered = tuple(name for name in competition.classes if name in self.content)
        return Entry(competition, entered, self.content)

    @staticmethod
    def extent(content: Any) -> str:
        """Count the lines of all files."""
        return counted(sum(len(of_class.confidence) for of_class in content.values()), "line")

    @abstractmethod
    def read(self, data: bytes, report: FileReport) -> Content | None:
        """Return the content of one class's file; report problems and return None if it is invalid.

        `upload` has what it is read by: the test items, the limits of the edition, and the rules of the competition.
        """
