"""Confidences of images on pages of `vocboard view`."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.precision_recall import by_confidence
from vocboard.evaluator.results import Entry
from vocboard.evaluator.tasks.classification.truth import LabelTruth
from vocboard.evaluator.viewing.entries import Page, ResultRows, ResultView, unjudged
from vocboard.evaluator.viewing.marks import Mark

_LABEL_MARKS = np.array([Mark.IGNORED, Mark.POSITIVE, Mark.NEGATIVE], dtype=np.uint8)  # by label 0, 1, -1


class LabelView(ResultView):
    """Confidences of items, with the labels of these."""

    kinds: ClassVar[tuple[str, ...]] = ("positive", "negative", "ignored")

    def rows(self, entry: Entry, image_set: ImageSet, page: Page) -> Iterator[ResultRows]:
        """Yield the items by confidence; `image` is the index of the item."""
        truth = page.truth_of(entry.competition)
        for index, name in enumerate(entry.competition.classes):
            found = entry.content.get(name)
            if found is None:
                continue
            order = by_confidence(found.confidence)
            item = found.item[order]
            mark, matched = unjudged(len(item))
            if isinstance(truth, LabelTruth):
                labels = truth.labels[name]
                last = max(item.max(initial=0), labels.item.max(initial=0))
                of_item = np.full(1 + last, Mark.UNJUDGED, dtype=np.uint8)
                of_item[labels.item] = _LABEL_MARKS[labels.label]
                mark = of_item[item]
            yield ResultRows(index, item, found.confidence[order], mark, matched)
