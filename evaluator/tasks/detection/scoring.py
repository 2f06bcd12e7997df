"""Detection: where are the objects of a class?

Source: VOC development kits, VOCevaldet.m; VOC2010 document section 4.4.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from vocboard.evaluator.editions import Competition, Edition, Overlap, TaskRules
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.boxes import best_overlapping
from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions
from vocboard.evaluator.metrics.matches import Matches
from vocboard.evaluator.metrics.precision_recall import by_confidence
from vocboard.evaluator.results import Detections, Entry
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.statistics.evidence import EvidenceByClass
from vocboard.evaluator.statistics.ranked_evidence import MatchedResults
from vocboard.evaluator.tasks.detection.truth import DetectionTruth
from vocboard.evaluator.tasks.ranked_classes import RankedClass
from vocboard.evaluator.tasks.ranked_classes import score as score_classes
from vocboard.evaluator.tasks.scorer import LabelMapCounts, Scorer


def match(detections: Detections, truth: DetectionTruth, class_index: int) -> MatchedResults:
    """Rank one class's detections by decreasing confidence, ties in file order, and match them with objects."""
    of_class = truth.class_index == class_index
    best, overlap = best_overlapping(detections.box, detections.image, truth.box[of_class], truth.image[of_class])
    rank = by_confidence(detections.confidence)
    return MatchedResults(
        image=detections.image[rank],
        confidence=detections.confidence[rank],
        object=best[rank].astype(np.int32),
        overlap=overlap[rank],
        object_image=truth.image[of_class],
        object_difficult=truth.difficult[of_class],
    )


def score(
    competition: Competition,
    classes: tuple[str, ...],
    content: Mapping[str, Detections],
    truth: DetectionTruth,
    edition: Edition,
    *,
    images: int,
) -> CompetitionScores:
    """Score the classes entered; `images` is the number of test images."""
    matched = {name: match(content[name], truth, edition.classes.index(name)) for name in classes}
    ranked = {name: _rank(each, edition.overlap, competition.rules, images) for name, each in matched.items()}
    return score_classes(competition, ranked)


def _rank(matched: MatchedResults, rule: Overlap, rules: TaskRules, images: int) -> RankedClass:
    def at(threshold: float) -> Matches:
        required = replace(rule, threshold=threshold)
        return matched.matches(required, repeats_on_difficult_are_false=rules.repeats_on_difficult_are_false)

    matches = at(rule.threshold)
    return RankedClass(
        judgement=matches.judge(),
        results=len(matches.object),
        difficult=int(np.count_nonzero(matches.ignored)),
        with_difficult=lambda: matches.judge(with_difficult=True),
        at_overlap=lambda threshold: at(threshold).judge(),
        confidence=lambda: matched.confidence,
        image=matched.image,
        images=images,
    )


class DetectionScorer(Scorer[DetectionTruth]):
    """Scores detection."""

    def score(
        self, entry: Entry, truth: DetectionTruth, edition: Edition, public: ImageSet, label_maps: LabelMapCounts | None
    ) -> CompetitionScores:
        """Score an entry."""
        return score(entry.competition, entry.classes, entry.content, truth, edition, images=len(public.images))

    def evidence(
        self,
        entry: Entry,
        truth: DetectionTruth,
        edition: Edition,
        public: ImageSet,
        confusions: ImageConfusions | None,
    ) -> EvidenceByClass[MatchedResults]:
        """Return the matched detections of each class."""
        classes = {name: match(entry.content[name], truth, edition.classes.index(name)) for name in entry.classes}
        return EvidenceByClass(len(public.images), classes)
