"""Action files: one confidence for each person.

Source: VOC2010 document section 7.2.
"""

from vocboard.evaluator.result_files.confidences import read_confidences
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Confidences
from vocboard.evaluator.tasks.format import FilesByClass


class ActionFiles(FilesByClass[Confidences]):
    """Lines `<image> <object index> <confidence>`."""

    def read(self, data: bytes, report: FileReport) -> Confidences | None:
        """Return the confidences of one action."""
        limits, confidence_range = self.upload.edition.limits, self.upload.competition.rules.confidence_range
        return read_confidences(
            data, self.upload.items, limits, report, of_people=True, confidence_range=confidence_range
        )
