"""Action classification: is a given person performing an action?

Scored like classification, with people as test items.
Source: VOC development kits, VOCevalaction.m; VOC2010 document section 7.4.
"""

from vocboard.evaluator.evidence.evidence import EvidenceByClass, Source
from vocboard.evaluator.evidence.ranked_evidence import LabelledItems
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.classification.scoring import LabelScorer, labelled
from vocboard.evaluator.tasks.classification.truth import LabelTruth
from vocboard.evaluator.tasks.scorer import LabelMapCounts


class ActionScorer(LabelScorer):
    """Scores action."""

    def evidence(
        self, entry: Entry, truth: LabelTruth, edition: Edition, public: ImageSet, label_maps: LabelMapCounts | None
    ) -> EvidenceByClass[LabelledItems]:
        """Return the labelled people of each action."""
        if public.persons is None:
            raise ValueError("the image set does not list its people")
        image = public.persons[:, 0]
        classes = {name: labelled(entry.content[name], truth.labels[name], image) for name in entry.classes}
        return EvidenceByClass(len(public.images), classes, source=Source(entry, truth, public))
