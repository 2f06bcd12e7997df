"""Regions on pages of `vocboard view`."""

from collections.abc import Iterator

import numpy as np

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.precision_recall import by_confidence
from vocboard.evaluator.results import Entry
from vocboard.evaluator.tasks.instance_segmentation import rle
from vocboard.evaluator.tasks.instance_segmentation.results import Regions
from vocboard.evaluator.viewing.entries import Page, ResultRows, ResultView, unjudged
from vocboard.evaluator.viewing.marks import marks_of


class RegionView(ResultView):
    """Regions, with the boxes around them."""

    kinds = ("correct", "wrong", "duplicate", "location", "confused", "both", "background")

    def rows(self, entry: Entry, image_set: ImageSet, page: Page) -> Iterator[ResultRows]:
        """Yield the regions by confidence."""
        diagnosed = page.diagnosed(entry)
        for index, name in enumerate(page.edition.classes):
            found: Regions | None = entry.content.get(name)
            if found is None:
                continue
            order = by_confidence(found.confidence)
            mark, matched = unjudged(len(order))
            if name in diagnosed:
                mark = marks_of(diagnosed[name])
            shapes = [_shape(found, region, image_set) for region in order.tolist()]
            box = np.array([box for box, _ in shapes], dtype=np.float64).reshape(-1, 4)
            texts = [text for _, text in shapes]
            yield ResultRows(index, found.image[order], found.confidence[order], mark, matched, box=box, region=texts)


def _shape(regions: Regions, region: int, image_set: ImageSet) -> tuple[tuple[int, int, int, int], str]:
    """Return VOC's box around a region, and its RLE."""
    runs = regions.runs(region)
    start, stop = regions.run_start[runs], regions.run_stop[runs]
    if image_set.sizes is None or not len(start):
        return (1, 1, 0, 0), ""
    width, height = image_set.sizes[regions.image[region]].tolist()
    one_column = start // height == (stop - 1) // height
    top = int((start % height).min()) if one_column.all() else 0
    bottom = int(((stop - 1) % height).max()) if one_column.all() else height - 1
    box = (int(start[0]) // height + 1, top + 1, int(stop[-1] - 1) // height + 1, bottom + 1)
    return box, rle.encode(rle.lengths_between(start, stop, width * height))
