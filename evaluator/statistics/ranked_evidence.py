"""The evidence of tasks with ranked results: matched with objects, labelled, or judged as a whole."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.boxes import is_enough
from vocboard.evaluator.metrics.matches import OVERLAPS, Matches, overlap_of
from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.metrics.recall_per_image import RESULTS_PER_IMAGE, place_in_image
from vocboard.evaluator.metrics.roc import RankedItems
from vocboard.evaluator.rules import (
    Competition,
    Edition,
    Interpolation,
    Overlap,
    TaskRules,
    WithoutPositives,
)
from vocboard.evaluator.statistics.average_precision import ResampledAveragePrecision
from vocboard.evaluator.statistics.evidence import ClassEvidence, not_possible
from vocboard.evaluator.statistics.image_shares import ImageShares
from vocboard.evaluator.statistics.resampled import Resampled, ResampledMean
from vocboard.evaluator.statistics.roc import ROC_METRICS, ResampledRoc
from vocboard.evaluator.tasks.names import Metric


@dataclass(frozen=True, eq=False, slots=True)
class MatchedResults(ClassEvidence):
    """Detections or regions of one class by rank, each with the object of its class and image that it overlaps most.

    Attributes:
        image: (n,) int32 index into `ImageSet.images`.
        confidence: (n,) float64, non-increasing.
        object: (n,) int32 index into the objects of the class, the first among equals; meaningless where the overlap
            is 0.
        overlap: (n,) float64 intersection over union.
        object_image: (m,) int32 image of each object of the class.
        object_difficult: (m,) bool.
    """

    image: NDArray[np.int32]
    confidence: NDArray[np.float64]
    object: NDArray[np.int32]
    overlap: NDArray[np.float64]
    object_image: NDArray[np.int32]
    object_difficult: NDArray[np.bool_]

    def matches(self, rule: Overlap, *, repeats_on_difficult_are_false: bool = False) -> Matches:
        """Return which results match an object, by an overlap rule."""
        enough = is_enough(self.overlap, rule) & (self.overlap > 0)
        return Matches(self.object, enough, self.object_difficult, repeats_on_difficult_are_false)

    def resampled(self, metric: Metric, edition: Edition, competition: Competition) -> Resampled:
        """Return an average precision of the class, or its recall with few results per image."""
        if metric in RESULTS_PER_IMAGE:
            return self._recall(metric, edition, competition)
        if metric is Metric.AVERAGE_PRECISION_50_95:
            rules = [replace(edition.overlap, threshold=overlap) for overlap in OVERLAPS]
            return ResampledMean(tuple(self._resampled(metric, rule, competition) for rule in rules))
        return self._resampled(metric, overlap_of(metric, edition), competition)

    def _recall(self, metric: Metric, edition: Edition, competition: Competition) -> Resampled:
        repeats_are_false = competition.rules.repeats_on_difficult_are_false
        matches = self.matches(edition.overlap, repeats_on_difficult_are_false=repeats_are_false)
        found = matches.judge().true & (place_in_image(self.image) < RESULTS_PER_IMAGE[metric])
        positive = self.object_image[~self.object_difficult]
        images = 1 + int(positive.max(initial=-1))
        correct, total = (np.bincount(each, minlength=images) for each in (self.image[found], positive))
        return ImageShares(correct.astype(np.float64), total.astype(np.float64))

    def _resampled(self, metric: Metric, rule: Overlap, competition: Competition) -> Resampled:
        rules = competition.rules
        matches = self.matches(rule, repeats_on_difficult_are_false=rules.repeats_on_difficult_are_false)
        with_difficult = metric is Metric.AVERAGE_PRECISION_WITH_DIFFICULT
        interpolation, without_positives = _interpolation(metric, rules, self)
        return ResampledAveragePrecision(
            matches.judge(with_difficult=with_difficult),
            self.image,
            self.object_image if with_difficult else self.object_image[~self.object_difficult],
            interpolation,
            without_positives,
        )


@dataclass(frozen=True, eq=False, slots=True)
class LabelledItems(ClassEvidence):
    """The test items of one class (images, or people) by rank.

    Attributes:
        image: (n,) int32 index into `ImageSet.images`.
        confidence: (n,) float64, non-increasing; −∞ for items without one.
        label: (n,) int8: 1 positive, 0 only difficult objects (ignored), −1 negative.
    """

    image: NDArray[np.int32]
    confidence: NDArray[np.float64]
    label: NDArray[np.int8]

    def resampled(self, metric: Metric, edition: Edition, competition: Competition) -> Resampled:
        """Return an average precision, or a metric of the receiver operating characteristic."""
        if metric in ROC_METRICS:
            items = RankedItems(self.confidence, positive=self.label > 0, negative=self.label < 0)
            return ResampledRoc(items, self.image, metric, competition.rules.roc)
        interpolation, without_positives = _interpolation(metric, competition.rules, self)
        positive = self.label >= 0 if metric is Metric.AVERAGE_PRECISION_WITH_DIFFICULT else self.label > 0
        judgement = Judgement(true=positive, false=self.label < 0, positives=int(np.count_nonzero(positive)))
        return ResampledAveragePrecision(judgement, self.image, self.image[positive], interpolation, without_positives)


@dataclass(frozen=True, eq=False, slots=True)
class JudgedResults(ClassEvidence):
    """Results of one class by rank, where all that is known is which ones are right (person layout).

    Attributes:
        image: (n,) int32 index into `ImageSet.images`.
        true: (n,) bool, true positives.
        false: (n,) bool, false positives; results that are neither are ignored.
        positive_image: (p,) int32 image of each positive.
    """

    image: NDArray[np.int32]
    true: NDArray[np.bool_]
    false: NDArray[np.bool_]
    positive_image: NDArray[np.int32]

    def resampled(self, metric: Metric, edition: Edition, competition: Competition) -> Resampled:
        """Return an average precision of the class."""
        interpolation, without_positives = _interpolation(metric, competition.rules, self)
        judgement = Judgement(self.true, self.false, len(self.positive_image))
        return ResampledAveragePrecision(judgement, self.image, self.positive_image, interpolation, without_positives)


_BY_RULES = frozenset(
    {
        Metric.AVERAGE_PRECISION,
        Metric.AVERAGE_PRECISION_WITH_DIFFICULT,
        Metric.AVERAGE_PRECISION_75,
        Metric.AVERAGE_PRECISION_50_95,
        Metric.AVERAGE_PRECISION_BY_CONFIDENCE,
        Metric.WHOLE_PERSON_AVERAGE_PRECISION,
        Metric.REGION_AVERAGE_PRECISION_50,
        Metric.REGION_AVERAGE_PRECISION_70,
    }
)


def _interpolation(metric: Metric, rules: TaskRules, evidence: object) -> tuple[Interpolation, WithoutPositives]:
    if metric is Metric.AVERAGE_PRECISION_AREA:
        return Interpolation.AREA, WithoutPositives.UNDEFINED
    if metric in _BY_RULES:
        return rules.interpolation, rules.without_positives
    raise not_possible(metric, evidence)
