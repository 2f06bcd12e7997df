"""Confidences of people on pages of `vocboard view`, with their boxes."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Entry
from vocboard.evaluator.tasks.classification.view import LabelView
from vocboard.evaluator.viewing.entries import Page, ResultRows


class ActionView(LabelView):
    """Confidences of people."""

    kinds = ("positive", "negative")
    annotated_by = "actions"

    def rows(self, entry: Entry, image_set: ImageSet, page: Page) -> Iterator[ResultRows]:
        """Yield the people by confidence."""
        people = image_set.persons
        if people is None:
            yield from super().rows(entry, image_set, page)
            return
        objects = page.objects(image_set, people)
        for rows in super().rows(entry, image_set, page):
            matched = objects[rows.image]
            box = np.append(page.boxes, [[1, 1, 0, 0]], axis=0)[matched]  # the last for no object
            yield replace(rows, image=people[rows.image, 0], object=matched, box=box)
