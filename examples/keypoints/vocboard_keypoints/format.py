"""Reads result files: `<image> <confidence> <x> <y> ...`, one file per class."""

import numpy as np

from vocboard.evaluator.problems import quoted
from vocboard.evaluator.result_files.columns import read_columns
from vocboard.evaluator.result_files.line_format import CONFIDENCE, IMAGE, LineFormat
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.tasks.detection.problems import TOO_MANY_DETECTIONS
from vocboard.evaluator.tasks.format import FilesByClass
from vocboard_keypoints.definition import POINTS
from vocboard_keypoints.results import People

_FIELDS = (IMAGE, CONFIDENCE, *(f"{axis}{point}" for point in range(1, POINTS + 1) for axis in "xy"))


class KeypointFiles(FilesByClass[People]):
    """Lines of an image, a confidence and the keypoints of a person."""

    def read(self, data: bytes, report: FileReport) -> People | None:
        """Return the people of one class; report problems and return None if the file is invalid."""
        limits = self.upload.edition.limits
        line_format = LineFormat(_FIELDS, confidence_range=self.upload.competition.rules.confidence_range)
        columns = read_columns(data, line_format, self.upload.items, limits, report)
        if columns is None:
            return None
        counts = np.bincount(columns.item, minlength=1)
        for image in np.flatnonzero(counts > limits.detections_per_image).tolist():
            name = quoted(self.upload.items.images.listed()[image])
            report.add(TOO_MANY_DETECTIONS, image=name, count=int(counts[image]), limit=limits.detections_per_image)
        if report.has_errors:
            return None
        return People(columns.item, columns.numbers[0], np.ascontiguousarray(columns.numbers[1:].T))
