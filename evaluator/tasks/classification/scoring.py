"""Classification: is there an object of a class in the image?

Source: VOC development kits, VOCevalcls.m (2006: VOCroc.m); VOC2010 document section 3.4.
"""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.evidence import EvidenceByClass, Source
from vocboard.evaluator.evidence.ranked_evidence import LabelledItems
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.precision_recall import by_confidence
from vocboard.evaluator.results import Confidences, Entry
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.classification.metrics import BY_CLASS, BY_ENTRY
from vocboard.evaluator.tasks.classification.truth import Labels, LabelTruth
from vocboard.evaluator.tasks.ranked_classes import RankedClass
from vocboard.evaluator.tasks.ranked_scorer import RankedScorer
from vocboard.evaluator.tasks.scorer import LabelMapCounts


def labelled(confidences: Confidences, labels: Labels, image_of: NDArray[np.int32] | None = None) -> LabelledItems:
    """Rank the test items of one class, and return their labels.

    Items are ranked by decreasing confidence, ties in the order of the class's image set. Items with only difficult
    objects are ignored, or counted as positives.

    Args:
        confidences: at most one per item. Items without one rank last, as if −∞, and still count; items that are not in
            the class's image set are ignored.
        labels: labels of the items to rank.
        image_of: the image of each item; None if items are images.
    """
    confidence = labels.confidence(confidences)
    by_rank = by_confidence(confidence)
    item = labels.item.take(by_rank)
    image = item if image_of is None else image_of.take(item)
    return LabelledItems(image, confidence.take(by_rank), labels.label.take(by_rank))


class LabelScorer(RankedScorer[LabelTruth, LabelledItems]):
    """Scores classification, of images or of actions."""

    by_class = BY_CLASS
    by_entry = BY_ENTRY

    def numbers(self, entry: Entry, name: str, ranked: RankedClass[LabelledItems]) -> tuple[int, int]:
        """Return the numbers of confidences, and of those of items with only difficult objects."""
        items = ranked.results
        return len(entry.content[name].item), int(np.count_nonzero((items.label == 0) & (items.confidence > -np.inf)))


class ClassificationScorer(LabelScorer):
    """Scores classification of images."""

    def evidence(
        self, entry: Entry, truth: LabelTruth, edition: Edition, public: ImageSet, label_maps: LabelMapCounts | None
    ) -> EvidenceByClass[LabelledItems]:
        """Return the labelled images of each class."""
        classes = {name: labelled(entry.content[name], truth.labels[name]) for name in entry.classes}
        return EvidenceByClass(len(public.images), classes, source=Source(entry, truth, public))
