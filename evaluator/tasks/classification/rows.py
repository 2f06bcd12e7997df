"""Confidences of images as rows."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Confidences, Entry
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.task_rows import ClassRows, Images, TaskRows, ranked


class ConfidenceRows(TaskRows):
    """Confidences of items: images here, people in a subclass."""

    are_of_every_class = True

    def people(self, image_set: ImageSet) -> NDArray[np.int32] | None:
        """Return the people that items are, as `ImageSet.persons`; None if they are images."""
        return None

    def rows(self, entry: Entry, edition: Edition, image_set: ImageSet, images: Images = None) -> Iterator[ClassRows]:
        """Yield the items by confidence."""
        people = self.people(image_set)
        for index, name in enumerate(entry.competition.classes):
            found: Confidences | None = entry.content.get(name)
            if found is not None:
                image = found.item if people is None else people[found.item, 0]
                order = ranked(image, found.confidence, images)
                person = None if people is None else people[found.item[order], 1]
                yield ClassRows(index, order, image[order], found.confidence[order], person=person)
