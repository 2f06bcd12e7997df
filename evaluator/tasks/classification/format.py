"""Reads classification files: one confidence per image.

Source: VOC2010 document section 3.3.
"""

import numpy as np

from vocboard.evaluator.problems import counted, quoted
from vocboard.evaluator.result_files.columns import read_columns
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.line_format import CONFIDENCE, IMAGE, LineFormat
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Confidences
from vocboard.evaluator.rules import Limits
from vocboard.evaluator.tasks.classification.problems import IMAGES_WITHOUT_CONFIDENCE, REPEATED_IMAGE
from vocboard.evaluator.tasks.format import FilesByClass


class ClassificationFiles(FilesByClass[Confidences]):
    """Lines `<image> <confidence>`."""

    def read(self, data: bytes, report: FileReport) -> Confidences | None:
        """Return the confidences of one class."""
        limits, confidence_range = self.upload.edition.limits, self.upload.competition.rules.confidence_range
        return read_images(data, self.upload.items, limits, report, confidence_range=confidence_range)


def read_images(
    data: bytes,
    items: Items,
    limits: Limits,
    report: FileReport,
    *,
    confidence_range: tuple[float, float] | None = None,
) -> Confidences | None:
    """Return the content of a classification file; None, and problems reported, if it is not valid.

    An image without a line is worth a warning only: it ranks last.
    """
    line_format = LineFormat((IMAGE, CONFIDENCE), repeated=REPEATED_IMAGE, confidence_range=confidence_range)
    columns = read_columns(data, line_format, items, limits, report)
    if columns is None:
        return None
    if items.image_set is not None and 0 < len(columns.item) < len(items.images):  # no image has two lines
        images = items.images.listed()
        missing = np.flatnonzero(np.bincount(columns.item, minlength=len(images)) == 0)
        report.add(
            IMAGES_WITHOUT_CONFIDENCE,
            count=counted(len(missing), "image"),
            all=len(images),
            has="has" if len(missing) == 1 else "have",
            first=quoted(images[int(missing[0])]),
        )
    return Confidences(item=columns.item, confidence=columns.numbers[0])
