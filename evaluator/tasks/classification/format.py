"""Classification files: one confidence for each image.

Source: VOC2010 document section 3.3.
"""

from vocboard.evaluator.result_files.confidences import read_confidences
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Confidences
from vocboard.evaluator.tasks.format import FilesByClass


class ClassificationFiles(FilesByClass[Confidences]):
    """Lines `<image> <confidence>`."""

    def read(self, data: bytes, report: FileReport) -> Confidences | None:
        """Return the confidences of one class."""
        limits, confidence_range = self.upload.edition.limits, self.upload.competition.rules.confidence_range
        return read_confidences(data, self.upload.items, limits, report, confidence_range=confidence_range)
