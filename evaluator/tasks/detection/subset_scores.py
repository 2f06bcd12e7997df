"""Scores of detections by some objects of a class; see `subsets` and `evaluator.metrics.object_subsets`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.average_precision import ResampledAveragePrecision
from vocboard.evaluator.evidence.normalised_precision import ResampledFifth, ResampledNormalisedPrecision
from vocboard.evaluator.evidence.ranked_evidence import MatchedResults
from vocboard.evaluator.evidence.resampled import Resampled, ResampledMean
from vocboard.evaluator.metrics.boxes import Boxes, area, aspect_ratio
from vocboard.evaluator.metrics.matches import OVERLAPS
from vocboard.evaluator.metrics.normalised_precision import NORMAL_SHARE
from vocboard.evaluator.metrics.object_subsets import fifths, judge_subset
from vocboard.evaluator.metrics.precision_recall import Judgement, by_confidence
from vocboard.evaluator.names import Metric
from vocboard.evaluator.results import Detections
from vocboard.evaluator.rules import Overlap, TaskRules
from vocboard.evaluator.tasks.detection.subsets import AREAS, SUBSETS, Characteristic, Subset
from vocboard.evaluator.tasks.detection.truth import DetectionTruth
from vocboard.evaluator.tasks.ranked_scorer import EntryValues, ScoredEntry

# What decides which fifth of a class an object is in.
_VALUES: Mapping[Characteristic, Callable[[Boxes], NDArray[np.float64]]] = {
    Characteristic.SIZE: area,
    Characteristic.ASPECT: aspect_ratio,
}


@dataclass(frozen=True, eq=False)
class ClassSubsets:
    """One class: its detections, and what decides which subsets its objects are in.

    Attributes:
        detections: in the order of the file.
        matched: the same by rank.
        truth: objects of all classes.
        of_class: (n,) bool, the objects of the class.
        rule: overlap of the edition.
        rules: of the competition.
        images: number of test images.
    """

    detections: Detections
    matched: MatchedResults
    truth: DetectionTruth
    of_class: NDArray[np.bool_]
    rule: Overlap
    rules: TaskRules
    images: int

    def counted(self, metric: Metric) -> NDArray[np.bool_]:
        """Return (m,) bool: which objects of the class are in a metric's subset, and not difficult."""
        counted: NDArray[np.bool_] = self._members(SUBSETS[metric]) & ~self.matched.object_difficult
        return counted

    def value(self, metric: Metric) -> Resampled:
        """Return the score by the objects of a metric's subset: NaN without any that count, 0 if none is found."""
        subset, matched = SUBSETS[metric], self.matched
        normal = NORMAL_SHARE * self.images
        if subset.characteristic in _VALUES:
            [fifth] = subset.values
            return ResampledFifth(
                self._judge(self.rule),
                matched.image,
                matched.object,
                matched.object_image,
                _VALUES[subset.characteristic](self._box),
                ~matched.object_difficult,
                fifth,
                normal,
            )
        judgements, positive_image = self.judgements(metric), matched.object_image[self.counted(metric)]
        if subset.characteristic is Characteristic.AREA:
            interpolation = self.rules.interpolation
            return ResampledMean(
                tuple(
                    ResampledAveragePrecision(each, matched.image, positive_image, interpolation) for each in judgements
                )
            )
        [judgement] = judgements
        return ResampledNormalisedPrecision(judgement, matched.image, positive_image, normal)

    def judgements(self, metric: Metric) -> list[Judgement]:
        """Return the results judged by the objects of a metric's subset, at each overlap that the metric needs."""
        subset, counted = SUBSETS[metric], self.counted(metric)
        if subset.characteristic is not Characteristic.AREA:
            return [judge_subset(self._judge(self.rule), self.matched.object, counted)]
        comparable = _within(self._areas, subset)
        rules = [replace(self.rule, threshold=overlap) for overlap in OVERLAPS]
        return [judge_subset(self._judge(rule), self.matched.object, counted, comparable) for rule in rules]

    def _judge(self, rule: Overlap) -> Judgement:
        return self.matched.judged(rule, self.rules).judgement

    def _members(self, subset: Subset) -> NDArray[np.bool_]:
        """Return (m,) bool: which objects of the class are in a subset; none if that is not known."""
        counted = ~self.matched.object_difficult
        match subset.characteristic:
            case Characteristic.AREA:
                return _within(area(self._box), subset)
            case Characteristic.SIZE | Characteristic.ASPECT:
                value = _VALUES[subset.characteristic](self._box)
                return np.isin(fifths(value, counted), subset.values)
            case Characteristic.TRUNCATION:
                annotated = self.truth.truncated
            case Characteristic.OCCLUSION:
                annotated = self.truth.occluded
            case Characteristic.VIEW:
                annotated = self.truth.view
        if annotated is None:
            return np.zeros(len(counted), dtype=np.bool_)
        return np.isin(annotated[self.of_class], subset.values)

    @property
    def _box(self) -> Boxes:
        """(m, 4) of the objects of the class."""
        return self.truth.box[self.of_class]

    @cached_property
    def _areas(self) -> NDArray[np.float64]:
        """(n,) area of each detection, by rank."""
        box: Boxes = self.detections.box[by_confidence(self.detections.confidence)]
        return area(box)


def score_of_subset(scored: ScoredEntry[DetectionTruth]) -> EntryValues:
    """Return a metric of some objects, for each class entered."""
    entry, truth, edition = scored.entry, scored.truth, scored.edition
    classes = {
        name: ClassSubsets(
            entry.content[name],
            matched,
            truth,
            truth.class_index == edition.classes.index(name),
            edition.overlap,
            entry.competition.rules,
            scored.evidence.images,
        )
        for name, matched in scored.evidence.classes.items()
    }
    return EntryValues(
        {name: each.value(scored.metric) for name, each in classes.items()},
        {name: int(np.count_nonzero(each.counted(scored.metric))) for name, each in classes.items()},
    )


def _within(areas: NDArray[np.float64], subset: Subset) -> NDArray[np.bool_]:
    least, most = AREAS[subset.values[0]]
    within: NDArray[np.bool_] = (areas >= least) & (areas <= most)
    return within
