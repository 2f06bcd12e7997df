"""Confidences of images on pages of `vocboard view`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Entry
from vocboard.evaluator.tasks.classification.rows import ConfidenceRows
from vocboard.evaluator.tasks.classification.truth import LabelTruth
from vocboard.evaluator.viewing.entries import Page, ResultRows, ResultView, unjudged
from vocboard.evaluator.viewing.marks import Mark

_LABEL_MARKS = np.array([Mark.IGNORED, Mark.POSITIVE, Mark.NEGATIVE], dtype=np.uint8)  # by label 0, 1, -1


class LabelView(ResultView):
    """Confidences of items, with the labels of these."""

    kinds: ClassVar[tuple[str, ...]] = ("positive", "negative", "ignored")
    rows_of_task: ClassVar[ConfidenceRows] = ConfidenceRows()

    def rows(self, entry: Entry, image_set: ImageSet, page: Page) -> Iterator[ResultRows]:
        """Yield the items by confidence; people with their boxes."""
        truth = page.truth_of(entry.competition)
        for found in self.rows_of_task.rows(entry, page.edition, image_set):
            name = entry.competition.classes[found.class_index]
            item = entry.content[name].item[found.source]
            mark, matched = unjudged(len(item))
            if isinstance(truth, LabelTruth):
                labels = truth.labels[name]
                last = max(item.max(initial=0), labels.item.max(initial=0))
                of_item = np.full(1 + last, Mark.UNJUDGED, dtype=np.uint8)
                of_item[labels.item] = _LABEL_MARKS[labels.label]
                mark = of_item[item]
            box = None
            if found.person is not None:
                matched = page.objects(image_set, np.stack([found.image, found.person], axis=1))
                box = np.append(page.boxes, [[1, 1, 0, 0]], axis=0)[matched]  # the last for no object
            yield replace(ResultRows.of(found, mark, matched), box=box)
