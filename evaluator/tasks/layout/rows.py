"""Parts of layouts as rows."""

from collections.abc import Iterator

import numpy as np

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Entry, Layouts
from vocboard.evaluator.rules import Competition, Edition
from vocboard.evaluator.tasks.task_rows import ClassRows, Images, TaskRows, ranked


class LayoutRows(TaskRows):
    """Parts, with the confidence of their layout."""

    def names(self, competition: Competition, edition: Edition) -> tuple[str, ...]:
        """Return the types of parts, also if whole people are scored."""
        return edition.parts

    def rows(self, entry: Entry, edition: Edition, image_set: ImageSet, images: Images = None) -> Iterator[ClassRows]:
        """Yield the parts by type and confidence."""
        layouts: Layouts = entry.content
        image, confidence = layouts.image[layouts.part_layout], layouts.confidence[layouts.part_layout]
        for index in range(len(edition.parts)):
            own = np.flatnonzero(layouts.part_type == index)
            own = own[ranked(image[own], confidence[own], images)]
            yield ClassRows(index, own, image[own], confidence[own], box=layouts.part_box[own])
