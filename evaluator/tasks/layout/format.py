"""Reads person layout files: one XML file for all people.

Source: VOC2010 document section 6.2.
"""

from vocboard.evaluator.archives import Member
from vocboard.evaluator.problems import counted
from vocboard.evaluator.result_files.names import FileName
from vocboard.evaluator.results import Entry, Layouts
from vocboard.evaluator.tasks.format import ResultFiles, Upload
from vocboard.evaluator.tasks.layout.reader import read_layouts


class LayoutFiles(ResultFiles):
    """Elements `<layout>` in `<results>`."""

    def __init__(self, upload: Upload) -> None:
        """Create an empty collection."""
        super().__init__(upload)
        self._layouts: Layouts | None = None

    def take(self, name: FileName, member: Member) -> None:
        """Read the file."""
        edition, rules = self.upload.edition, self.upload.competition.rules
        self._layouts = read_layouts(
            member.read(),
            rules.layout_protocol,
            edition.parts,
            items=self.upload.items,
            limits=edition.limits,
            report=self.upload.new_report(member.name),
            confidence_range=rules.confidence_range,
        )

    def entry(self) -> Entry | None:
        """Return the layouts."""
        competition = self.upload.competition
        return None if self._layouts is None else Entry(competition, competition.classes, self._layouts)

    @staticmethod
    def extent(content: Layouts) -> str:
        """Count the layouts."""
        return counted(len(content.image), "layout")
