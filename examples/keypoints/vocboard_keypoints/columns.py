"""Stores results as columns, and checks them when they are loaded."""

import numpy as np

from vocboard.evaluator.tasks.content_columns import (
    Columns,
    ColumnsByClass,
    Known,
    check_finite,
    check_index,
    check_lengths,
)
from vocboard_keypoints.definition import POINTS
from vocboard_keypoints.results import People


class KeypointColumns(ColumnsByClass[People]):
    """Images, confidences and points of each class."""

    def to_class(self, columns: Columns, known: Known) -> People:
        """Return the people of one class."""
        read = People(
            columns.array("image", np.int32),
            columns.array("confidence", np.float64),
            columns.array("points", np.float64, columns=2 * POINTS),
        )
        check_lengths(read.image, read.confidence, read.points)
        check_index("image", read.image, known.images)
        check_finite("confidence", read.confidence)
        check_finite("points", read.points)
        return read
