"""Columns of segmentation: which images have a label map. The maps are stored separately."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.results import Entry, Segmented
from vocboard.evaluator.tasks.content_columns import Columns, ContentColumns, Known, check_index


class SegmentedColumns(ContentColumns):
    """The images."""

    def arrays(self, entry: Entry) -> Mapping[str, NDArray[Any]]:
        """Return the images that had a map."""
        return {"images": entry.content.images}

    def content(self, classes: tuple[str, ...], columns: Columns, known: Known) -> Segmented:
        """Return which images had a map, each once."""
        images = columns.array("images", np.int32)
        check_index("images", images, known.images)
        if (np.diff(images) <= 0).any():
            raise ValueError("images: they do not increase")
        return Segmented(images)
