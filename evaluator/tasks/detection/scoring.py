"""Detection: where are the objects of a class?

Source: VOC development kits, VOCevaldet.m; VOC2010 document section 4.4.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import Competition, Edition, Overlap
from vocboard.evaluator.metrics.boxes import best_overlapping, is_enough
from vocboard.evaluator.metrics.precision_recall import Judgement, by_confidence, first_of_each
from vocboard.evaluator.results import Detections, Entry
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.tasks.detection.truth import DetectionTruth
from vocboard.evaluator.tasks.ranked_classes import RankedClass
from vocboard.evaluator.tasks.ranked_classes import score as score_classes
from vocboard.evaluator.tasks.scorer import Scorer


@dataclass(frozen=True, eq=False)
class Matches:
    """The best-matching object of each detection, in rank order.

    Attributes:
        object: (n,) index of the object of the same class and image that the detection overlaps most, the first among
            equals.
        enough: (n,) bool, whether the overlap is sufficient; otherwise the index is meaningless.
        difficult: (m,) bool, whether each object is difficult.
        repeats_on_difficult_are_false: whether only the first detection of a difficult object is ignored (VOC2006).
    """

    object: NDArray[np.int64]
    enough: NDArray[np.bool_]
    difficult: NDArray[np.bool_]
    repeats_on_difficult_are_false: bool = False

    def judge(self, *, with_difficult: bool = False) -> Judgement:
        """Classify each detection as true positive, false positive or ignored.

        The first detection (by rank) with sufficient overlap with an object is true; later ones for the same object,
        and those without sufficient overlap, are false. A detection never falls back to another object because the best
        one is already matched.

        Args:
            with_difficult: whether to treat difficult objects as ordinary ones; otherwise they are not positives, and
                `ignored` detections do not count.
        """
        ignored = np.zeros_like(self.enough) if with_difficult else self.ignored
        true = np.zeros_like(self.enough)
        true[self._firsts] = with_difficult | ~self.difficult[self.object[self._firsts]]
        positives = len(self.difficult) if with_difficult else np.count_nonzero(~self.difficult)
        return Judgement(true=true, false=~true & ~ignored, positives=int(positives))

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        """Return the ranks of the first detection with sufficient overlap of each object."""
        enough = np.flatnonzero(self.enough)
        return enough[first_of_each(self.object[enough])]

    @cached_property
    def ignored(self) -> NDArray[np.bool_]:
        """Return (n,) bool: whether a detection is ignored because it matches a difficult object."""
        ignored = np.zeros_like(self.enough)
        ignored[self.enough] = self.difficult[self.object[self.enough]]
        if self.repeats_on_difficult_are_false:
            on_difficult = np.flatnonzero(ignored)
            ignored[on_difficult] = first_of_each(self.object[on_difficult])
        return ignored


def match(
    detections: Detections,
    truth: DetectionTruth,
    class_index: int,
    rule: Overlap,
    *,
    repeats_on_difficult_are_false: bool = False,
) -> Matches:
    """Rank one class's detections by decreasing confidence, ties in file order, and match them with objects."""
    of_class = truth.class_index == class_index
    best, overlap = best_overlapping(detections.box, detections.image, truth.box[of_class], truth.image[of_class])
    rank = by_confidence(detections.confidence)
    return Matches(
        object=best[rank],
        enough=is_enough(overlap, rule)[rank],
        difficult=truth.difficult[of_class],
        repeats_on_difficult_are_false=repeats_on_difficult_are_false,
    )


def score(
    competition: Competition,
    classes: tuple[str, ...],
    content: Mapping[str, Detections],
    truth: DetectionTruth,
    edition: Edition,
) -> CompetitionScores:
    """Score the classes entered."""
    repeats_are_false = competition.rules.repeats_on_difficult_are_false

    def matches(name: str) -> Matches:
        class_index = edition.classes.index(name)
        return match(
            content[name], truth, class_index, edition.overlap, repeats_on_difficult_are_false=repeats_are_false
        )

    return score_classes(competition, {name: _rank(matches(name)) for name in classes})


def _rank(matches: Matches) -> RankedClass:
    return RankedClass(
        judgement=matches.judge(),
        results=len(matches.object),
        difficult=int(np.count_nonzero(matches.ignored)),
        with_difficult=lambda: matches.judge(with_difficult=True),
    )


class DetectionScorer(Scorer[DetectionTruth]):
    """Scores detection."""

    def score(
        self, entry: Entry, truth: DetectionTruth, edition: Edition, confusion_matrix: NDArray[np.int64] | None
    ) -> CompetitionScores:
        """Score an entry."""
        return score(entry.competition, entry.classes, entry.content, truth, edition)
