"""Person layout: where are the head, hands and feet of a given person?

The edition's protocol determines whether whole people or single parts are scored.
Source: VOC2010 document section 6.4.
"""

from collections.abc import Mapping

import numpy as np

from vocboard.evaluator.evidence.evidence import Evidence, EvidenceByClass
from vocboard.evaluator.evidence.ranked_evidence import JudgedResults
from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.names import Metric
from vocboard.evaluator.results import Entry, Layouts
from vocboard.evaluator.rules import Competition, Edition, LayoutProtocol
from vocboard.evaluator.tasks.layout.definition import PERSON
from vocboard.evaluator.tasks.layout.evidence import judged_parts, judged_people
from vocboard.evaluator.tasks.layout.metrics import BY_CLASS, WHOLE_PEOPLE
from vocboard.evaluator.tasks.layout.truth import LayoutTruth
from vocboard.evaluator.tasks.layout.whole_person import judge_by_box, judge_by_index
from vocboard.evaluator.tasks.ranked_classes import RankedClass
from vocboard.evaluator.tasks.ranked_scorer import RankedScorer
from vocboard.evaluator.tasks.scorer import LabelMapCounts


def judge_whole_people(competition: Competition, layouts: Layouts, truth: LayoutTruth, edition: Edition) -> Judgement:
    """Judge layouts in rank order by the competition's protocol, one of those that judge whole people."""
    types = len(edition.parts)
    match competition.rules.layout_protocol:
        case LayoutProtocol.WHOLE_PERSON_BY_BOX:
            return judge_by_box(layouts, truth, edition.overlap, types)
        case LayoutProtocol.WHOLE_PERSON_BY_INDEX:
            return judge_by_index(layouts, truth, edition.overlap, types)
        case LayoutProtocol.WHOLE_PERSON_BY_INDEX_IN_FILE_ORDER:
            return judge_by_index(layouts, truth, edition.overlap, types, in_file_order=True)
        case protocol:
            raise ValueError(f"{protocol} does not judge whole people")


class LayoutScorer(RankedScorer[LayoutTruth, JudgedResults]):
    """Scores layout."""

    by_class = BY_CLASS

    def evidence(
        self, entry: Entry, truth: LayoutTruth, edition: Edition, public: ImageSet, label_maps: LabelMapCounts | None
    ) -> EvidenceByClass[JudgedResults]:
        """Return the judged parts of each type, or the judged layouts."""
        layouts, rules = entry.content, entry.competition.rules
        if rules.layout_protocol is LayoutProtocol.PARTS:
            classes = judged_parts(layouts, truth, edition)
        else:
            judgement = judge_whole_people(entry.competition, layouts, truth, edition)
            classes = {PERSON: judged_people(layouts, judgement, truth, rules.layout_protocol)}
        others = {}
        for metric in rules.secondary:
            if metric in WHOLE_PEOPLE:
                judgement = WHOLE_PEOPLE[metric](layouts, truth, edition.overlap, len(edition.parts))
                others[metric] = {PERSON: judged_people(layouts, judgement, truth, None)}
        return EvidenceByClass(len(public.images), classes, others)

    def values(
        self, metric: Metric, evidence: Evidence, edition: Edition, competition: Competition
    ) -> Mapping[str, Resampled | float]:
        """Compute a metric from evidence; one that judges whole people in another way, only from its own."""
        if metric in WHOLE_PEOPLE and isinstance(evidence, EvidenceByClass) and metric not in evidence.others:
            raise ValueError(f"{metric} needs evidence that was collected for it, and this was not")
        return super().values(metric, evidence, edition, competition)

    def numbers(self, entry: Entry, name: str, ranked: RankedClass[JudgedResults]) -> tuple[int, int]:
        """Return the number of parts of a type, or of layouts; difficult people are not ignored."""
        layouts: Layouts = entry.content
        if name == PERSON and ranked.rules.layout_protocol is not LayoutProtocol.PARTS:
            return len(layouts.confidence), 0
        return int(np.count_nonzero(layouts.part_type == ranked.edition.parts.index(name))), 0
