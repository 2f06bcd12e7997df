"""Action classification: is a given person performing an action?

Scored like classification, with people as test items.
Source: VOC development kits, VOCevalaction.m; VOC2010 document section 7.4.
"""

from collections.abc import Mapping

from vocboard.evaluator.editions import Competition
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions
from vocboard.evaluator.results import Confidences, Entry
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.statistics.evidence import EvidenceByClass
from vocboard.evaluator.statistics.ranked_evidence import LabelledItems
from vocboard.evaluator.tasks.classification.scoring import forced_choice, labelled, rank
from vocboard.evaluator.tasks.classification.truth import LabelTruth
from vocboard.evaluator.tasks.ranked_classes import score as score_classes
from vocboard.evaluator.tasks.scorer import LabelMapCounts, Scorer


def score(
    competition: Competition,
    classes: tuple[str, ...],
    content: Mapping[str, Confidences],
    truth: LabelTruth,
) -> CompetitionScores:
    """Score the actions entered."""
    ranked = {name: rank(content[name], truth.labels[name]) for name in classes}
    return score_classes(competition, ranked, forced_choice(competition, classes, content, truth))


class ActionScorer(Scorer[LabelTruth]):
    """Scores action."""

    def score(
        self, entry: Entry, truth: LabelTruth, edition: Edition, public: ImageSet, label_maps: LabelMapCounts | None
    ) -> CompetitionScores:
        """Score an entry."""
        return score(entry.competition, entry.classes, entry.content, truth)

    def evidence(
        self, entry: Entry, truth: LabelTruth, edition: Edition, public: ImageSet, confusions: ImageConfusions | None
    ) -> EvidenceByClass[LabelledItems]:
        """Return the labelled people of each action."""
        if public.persons is None:
            raise ValueError("the image set does not list its people")
        image = public.persons[:, 0]
        classes = {name: labelled(entry.content[name], truth.labels[name], image) for name in entry.classes}
        return EvidenceByClass(len(public.images), classes)
