"""Regions on pages of `vocboard view`."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Entry
from vocboard.evaluator.tasks.instance_segmentation import rle
from vocboard.evaluator.tasks.instance_segmentation.rows import RegionRows
from vocboard.evaluator.viewing.entries import Page, ResultRows, ResultView, unjudged
from vocboard.evaluator.viewing.marks import marks_of


class RegionView(ResultView):
    """Regions, with the boxes around them."""

    kinds = ("correct", "wrong", "duplicate", "location", "confused", "both", "background")

    def rows(self, entry: Entry, image_set: ImageSet, page: Page) -> Iterator[ResultRows]:
        """Yield the regions by confidence."""
        diagnosed = page.diagnosed(entry)
        for found in RegionRows().rows(entry, page.edition, image_set):
            mark, matched = unjudged(len(found.source))
            name = page.edition.classes[found.class_index]
            if name in diagnosed:
                mark = marks_of(diagnosed[name])
            regions = zip(found.region or (), found.image.tolist(), strict=True)
            texts = [_encoded(*runs, image, image_set) for runs, image in regions]
            yield replace(ResultRows.of(found, mark, matched), region=texts)


def _encoded(start: NDArray[np.int64], stop: NDArray[np.int64], image: int, image_set: ImageSet) -> str:
    """Return the RLE of a region; empty if the size of its image is unknown."""
    if image_set.sizes is None or not len(start):
        return ""
    return rle.encode(rle.lengths_between(start, stop, int(image_set.sizes[image].prod())))
