"""Scores of detections by some objects of a class; see `subsets` and `evaluator.metrics.object_subsets`."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.boxes import Boxes, area, aspect_ratio
from vocboard.evaluator.metrics.matches import OVERLAPS
from vocboard.evaluator.metrics.normalised_precision import NORMAL_SHARE, normalised_average_precision
from vocboard.evaluator.metrics.object_subsets import fifths, judge_subset
from vocboard.evaluator.metrics.precision_recall import Judgement, by_confidence
from vocboard.evaluator.results import Detections
from vocboard.evaluator.rules import Overlap, TaskRules
from vocboard.evaluator.scores import Measure
from vocboard.evaluator.statistics.ranked_evidence import MatchedResults
from vocboard.evaluator.tasks.detection.subsets import AREAS, SUBSETS, Characteristic, Subset
from vocboard.evaluator.tasks.detection.truth import DetectionTruth
from vocboard.evaluator.tasks.names import Metric
from vocboard.evaluator.tasks.ranked_scorer import ScoredEntry


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

    def score(self, metric: Metric) -> float:
        """Return the score by the objects of a metric's subset: NaN without any that count, 0 if none is found."""
        judgements = self.judgements(metric)
        if not judgements[0].positives:
            return float("nan")
        if SUBSETS[metric].characteristic is Characteristic.AREA:
            return float(np.mean([each.average_precision(self.rules.interpolation) for each in judgements]))
        [judgement] = judgements
        return normalised_average_precision(judgement, judgement.positives, NORMAL_SHARE * self.images)

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
        box, counted = self.truth.box[self.of_class], ~self.matched.object_difficult
        match subset.characteristic:
            case Characteristic.AREA:
                return _within(area(box), subset)
            case Characteristic.SIZE:
                return np.isin(fifths(area(box), counted), subset.values)
            case Characteristic.ASPECT:
                return np.isin(fifths(aspect_ratio(box), counted), subset.values)
            case Characteristic.TRUNCATION:
                annotated = self.truth.truncated
            case Characteristic.OCCLUSION:
                annotated = self.truth.occluded
            case Characteristic.VIEW:
                annotated = self.truth.view
        if annotated is None:
            return np.zeros(len(box), dtype=np.bool_)
        return np.isin(annotated[self.of_class], subset.values)

    @cached_property
    def _areas(self) -> NDArray[np.float64]:
        """(n,) area of each detection, by rank."""
        box: Boxes = self.detections.box[by_confidence(self.detections.confidence)]
        return area(box)


def score_of_subset(scored: ScoredEntry[DetectionTruth]) -> Measure:
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
    return Measure(
        scored.metric,
        {name: each.score(scored.metric) for name, each in classes.items()},
        {name: int(np.count_nonzero(each.counted(scored.metric))) for name, each in classes.items()},
    )


def _within(areas: NDArray[np.float64], subset: Subset) -> NDArray[np.bool_]:
    least, most = AREAS[subset.values[0]]
    within: NDArray[np.bool_] = (areas >= least) & (areas <= most)
    return within
