"""Regions as rows."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.instance_segmentation.results import Regions
from vocboard.evaluator.tasks.task_rows import ClassRows, Images, TaskRows, ranked


class RegionRows(TaskRows):
    """Regions, with the boxes around them."""

    def rows(self, entry: Entry, edition: Edition, image_set: ImageSet, images: Images = None) -> Iterator[ClassRows]:
        """Yield the regions by confidence."""
        for index, name in enumerate(edition.classes):
            found: Regions | None = entry.content.get(name)
            if found is None:
                continue
            order = ranked(found.image, found.confidence, images)
            image, runs = found.image[order], [found.runs(region) for region in order.tolist()]
            regions = [(found.run_start[each], found.run_stop[each]) for each in runs]
            boxes = [_box(*each, place, image_set) for each, place in zip(regions, image.tolist(), strict=True)]
            box = np.array(boxes, dtype=np.float64).reshape(-1, 4)
            yield ClassRows(index, order, image, found.confidence[order], box=box, region=regions)


def _box(
    start: NDArray[np.int64], stop: NDArray[np.int64], image: int, image_set: ImageSet
) -> tuple[int, int, int, int]:
    """Return VOC's box around the runs of a region."""
    if image_set.sizes is None or not len(start):
        return 1, 1, 0, 0
    height = int(image_set.sizes[image, 1])
    one_column = start // height == (stop - 1) // height
    top = int((start % height).min()) if one_column.all() else 0
    bottom = int(((stop - 1) % height).max()) if one_column.all() else height - 1
    return int(start[0]) // height + 1, top + 1, int(stop[-1] - 1) // height + 1, bottom + 1
