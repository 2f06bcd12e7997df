"""Columns of detection: image, confidence and box of each line."""

import numpy as np

from vocboard.evaluator.results import Detections
from vocboard.evaluator.tasks.content_columns import (
    Columns,
    ColumnsByClass,
    Known,
    check_finite,
    check_index,
    check_lengths,
)


class DetectionColumns(ColumnsByClass[Detections]):
    """Images, confidences and boxes of each class."""

    def to_class(self, columns: Columns, known: Known) -> Detections:
        """Return the detections of one class."""
        read = Detections(
            columns.array("image", np.int32),
            columns.array("confidence", np.float64),
            columns.array("box", np.float64, columns=4),
        )
        check_lengths(read.image, read.confidence, read.box)
        check_index("image", read.image, known.images)
        check_finite("confidence", read.confidence)
        check_finite("box", read.box)
        return read
