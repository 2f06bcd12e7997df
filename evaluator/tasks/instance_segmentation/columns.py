"""Columns of instance segmentation: image, confidence and runs of each region."""

import numpy as np

from vocboard.evaluator.tasks.content_columns import (
    Columns,
    ColumnsByClass,
    Known,
    check_finite,
    check_index,
    check_lengths,
    check_sorted,
)
from vocboard.evaluator.tasks.instance_segmentation.results import Regions


class RegionColumns(ColumnsByClass[Regions]):
    """The regions of each class, followed by their runs."""

    def to_class(self, columns: Columns, known: Known) -> Regions:
        """Return the regions of one class."""
        read = Regions(
            image=columns.array("image", np.int32),
            confidence=columns.array("confidence", np.float64),
            run_start=columns.array("run_start", np.int64),
            run_stop=columns.array("run_stop", np.int64),
            run_end=columns.array("run_end", np.int64),
        )
        check_lengths(read.image, read.confidence, read.run_end)
        check_lengths(read.run_start, read.run_stop)
        check_index("image", read.image, known.images)
        check_finite("confidence", read.confidence)
        check_sorted("run_end", read.run_end)
        check_index("run_end", read.run_end, len(read.run_start) + 1)
        if (int(read.run_end[-1]) if len(read.run_end) else 0) != len(read.run_start):
            raise ValueError("run_end: there are runs of no region")
        _check_runs(read, known)
        return read


def _check_runs(regions: Regions, known: Known) -> None:
    """Check that the runs of each region increase, and lie within its image.

    Raises:
        ValueError: they do not.
    """
    region = np.repeat(np.arange(len(regions.image)), np.diff(regions.run_end, prepend=0))
    follows = region[1:] == region[:-1]
    if (regions.run_start < 0).any() or (regions.run_stop <= regions.run_start).any():
        raise ValueError("run_start: a run is not one")
    if (regions.run_start[1:][follows] < regions.run_stop[:-1][follows]).any():
        raise ValueError("run_start: the runs of a region do not increase")
    sizes = None if known.image_set is None else known.image_set.sizes
    if sizes is not None:
        pixels = sizes.astype(np.int64).prod(axis=1)
        if (regions.run_stop > pixels[regions.image[region]]).any():
            raise ValueError("run_stop: a run goes beyond its image")
