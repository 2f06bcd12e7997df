"""Columns of classification: the confidence of each item."""

import numpy as np

from vocboard.evaluator.results import Confidences
from vocboard.evaluator.tasks.content_columns import (
    Columns,
    ColumnsByClass,
    Known,
    check_finite,
    check_index,
    check_lengths,
)


class ConfidenceColumns(ColumnsByClass[Confidences]):
    """Items and confidences of each class; items are images."""

    def to_class(self, columns: Columns, known: Known) -> Confidences:
        """Return the confidences of one class."""
        read = Confidences(columns.array("item", np.int32), columns.array("confidence", np.float64))
        check_lengths(read.item, read.confidence)
        check_index("item", read.item, self.items(known))
        check_finite("confidence", read.confidence)
        return read

    def items(self, known: Known) -> int:
        """Return how many test items there are."""
        return known.images
