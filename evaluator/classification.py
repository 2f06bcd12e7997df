"""Classification: is there an object of a class in the image?

Source: VOC development kits, VOCevalcls.m (2006: VOCroc.m); VOC2010 document section 3.4.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from evaluator.editions import Competition
from evaluator.ground_truth import Labels, LabelTruth
from evaluator.precision_recall import Judgement, by_confidence
from evaluator.ranked_classes import RankedClass
from evaluator.ranked_classes import score as score_classes
from evaluator.results import Confidences
from evaluator.roc import RankedItems
from evaluator.scores import CompetitionScores


def judge(confidences: Confidences, labels: Labels, *, with_difficult: bool = False) -> Judgement:
    """Rank the test items of one class and judge each by its label.

    Items rank by decreasing confidence, ties in the order of the class's image set.

    Args:
        confidences: at most one an item. An item without one ranks last, as if −∞, and still counts; one that the
            class's image set does not list is left out.
        labels: of the items to rank.
        with_difficult: True to take items with only difficult objects for positives; else they count neither way.
    """
    label = labels.label[by_confidence(_confidence_of(confidences, labels))]
    true = label >= 0 if with_difficult else label > 0
    return Judgement(true=true, false=label < 0, positives=int(np.count_nonzero(true)))


def ranked_items(confidences: Confidences, labels: Labels) -> RankedItems:
    """Return the test items of one class as `judge` ranks them, for a receiver operating characteristic."""
    confidence = _confidence_of(confidences, labels)
    rank = by_confidence(confidence)
    label = labels.label[rank]
    return RankedItems(confidence[rank], positive=label > 0, negative=label < 0)


def score(
    competition: Competition,
    classes: tuple[str, ...],
    content: Mapping[str, Confidences],
    truth: LabelTruth,
) -> CompetitionScores:
    """Score the classes entered."""
    return score_classes(competition, {name: rank(content[name], truth.labels[name]) for name in classes})


def rank(confidences: Confidences, labels: Labels) -> RankedClass:
    """Return one class judged, with its counts."""
    difficult = np.isin(confidences.item, labels.item[labels.label == 0])
    return RankedClass(
        judgement=judge(confidences, labels),
        results=len(confidences.item),
        difficult=int(np.count_nonzero(difficult)),
        with_difficult=lambda: judge(confidences, labels, with_difficult=True),
        items=lambda: ranked_items(confidences, labels),
    )


def _confidence_of(confidences: Confidences, labels: Labels) -> NDArray[np.float64]:
    """(n,) the confidence of each item that `labels` has, in its order; −∞ without one."""
    number_of_items = 1 + max(labels.item.max(initial=-1), confidences.item.max(initial=-1))
    confidence = np.full(number_of_items, -np.inf)
    confidence[confidences.item] = confidences.confidence
    of_labels: NDArray[np.float64] = confidence[labels.item]
    return of_labels
