"""Classification: is there an object of a class in the image?

Source: VOC development kits, VOCevalcls.m (2006: VOCroc.m); VOC2010 document section 3.4.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import Competition, Metric
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions
from vocboard.evaluator.metrics.forced_choice import forced_choice_accuracy
from vocboard.evaluator.metrics.precision_recall import Judgement, by_confidence
from vocboard.evaluator.metrics.roc import RankedItems
from vocboard.evaluator.results import Confidences, Entry
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.scores import CompetitionScores, Measure
from vocboard.evaluator.statistics.evidence import EvidenceByClass
from vocboard.evaluator.statistics.ranked_evidence import LabelledItems
from vocboard.evaluator.tasks.classification.truth import Labels, LabelTruth
from vocboard.evaluator.tasks.ranked_classes import RankedClass
from vocboard.evaluator.tasks.ranked_classes import score as score_classes
from vocboard.evaluator.tasks.scorer import LabelMapCounts, Scorer


def score(
    competition: Competition,
    classes: tuple[str, ...],
    content: Mapping[str, Confidences],
    truth: LabelTruth,
) -> CompetitionScores:
    """Score the classes entered."""
    ranked = {name: rank(content[name], truth.labels[name]) for name in classes}
    return score_classes(competition, ranked, forced_choice(competition, classes, content, truth))


def forced_choice(
    competition: Competition, classes: tuple[str, ...], content: Mapping[str, Confidences], truth: LabelTruth
) -> tuple[Measure, ...]:
    """Return the accuracy of a forced choice, if the rules have it; see `forced_choice_accuracy`.

    Items that are not in the image set of a class have no confidence for it, and do not show it.
    """
    if Metric.FORCED_CHOICE_ACCURACY not in competition.rules.secondary:
        return ()
    names = competition.classes
    items = 1 + max((int(truth.labels[name].item.max(initial=-1)) for name in names), default=-1)
    label = np.full((len(names), items), -1, dtype=np.int8)
    confidence = np.full((len(classes), items), -np.inf)
    for row, name in enumerate(names):
        label[row, truth.labels[name].item] = truth.labels[name].label
    for row, name in enumerate(classes):
        confidence[row, truth.labels[name].item] = _confidence_of(content[name], truth.labels[name])
    entered = np.array([names.index(name) for name in classes], dtype=np.int64)
    accuracy = forced_choice_accuracy(confidence, label, entered).tolist()
    return (Measure(Metric.FORCED_CHOICE_ACCURACY, dict(zip(classes, accuracy, strict=True))),)


def rank(confidences: Confidences, labels: Labels) -> RankedClass:
    """Rank the test items of one class, and compare them with their labels.

    Items are ranked by decreasing confidence, ties in the order of the class's image set. Items with only difficult
    objects are ignored, or counted as positives.

    Args:
        confidences: at most one per item. Items without one rank last, as if −∞, and still count; items that are not in
            the class's image set are ignored.
        labels: labels of the items to rank.
    """
    confidence = _confidence_of(confidences, labels)
    by_rank = by_confidence(confidence)
    label = labels.label[by_rank]
    return RankedClass(
        judgement=_check(label > 0, label < 0),
        results=len(confidences.item),
        difficult=int(np.count_nonzero((labels.label == 0) & (confidence > -np.inf))),
        with_difficult=lambda: _check(label >= 0, label < 0),
        confidence=lambda: confidence[by_rank],
        items=lambda: RankedItems(confidence[by_rank], positive=label > 0, negative=label < 0),
    )


def labelled(confidences: Confidences, labels: Labels, image_of: NDArray[np.int32] | None = None) -> LabelledItems:
    """Rank the test items of one class as `rank` does, and return their labels.

    Args:
        confidences: as in `rank`.
        labels: as in `rank`.
        image_of: the image of each item; None if items are images.
    """
    confidence = _confidence_of(confidences, labels)
    by_rank = by_confidence(confidence)
    item = labels.item[by_rank]
    return LabelledItems(item if image_of is None else image_of[item], confidence[by_rank], labels.label[by_rank])


def _check(positive: NDArray[np.bool_], negative: NDArray[np.bool_]) -> Judgement:
    return Judgement(true=positive, false=negative, positives=int(np.count_nonzero(positive)))


def _confidence_of(confidences: Confidences, labels: Labels) -> NDArray[np.float64]:
    """Return the (n,) confidences of the items in `labels`, in order; −∞ for items without one."""
    number_of_items = 1 + max(labels.item.max(initial=-1), confidences.item.max(initial=-1))
    confidence = np.full(number_of_items, -np.inf)
    confidence[confidences.item.astype(np.intp)] = confidences.confidence  # three times as fast as with int32
    return confidence.take(labels.item)


class ClassificationScorer(Scorer[LabelTruth]):
    """Scores classification."""

    def score(
        self, entry: Entry, truth: LabelTruth, edition: Edition, public: ImageSet, label_maps: LabelMapCounts | None
    ) -> CompetitionScores:
        """Score an entry."""
        return score(entry.competition, entry.classes, entry.content, truth)

    def evidence(
        self, entry: Entry, truth: LabelTruth, edition: Edition, public: ImageSet, confusions: ImageConfusions | None
    ) -> EvidenceByClass[LabelledItems]:
        """Return the labelled images of each class."""
        classes = {name: labelled(entry.content[name], truth.labels[name]) for name in entry.classes}
        return EvidenceByClass(len(public.images), classes)
