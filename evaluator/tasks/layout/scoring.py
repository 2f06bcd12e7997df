"""Person layout: where are the head, hands and feet of a given person?

The edition's protocol determines whether whole people or single parts are scored.
Source: VOC2010 document section 6.4.
"""

from vocboard.evaluator.editions import Competition, Edition, LayoutProtocol, Metric
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions
from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.results import Entry, Layouts
from vocboard.evaluator.scores import CompetitionScores, Measure
from vocboard.evaluator.statistics.evidence import EvidenceByClass
from vocboard.evaluator.statistics.ranked_evidence import JudgedResults
from vocboard.evaluator.tasks.layout.definition import PERSON
from vocboard.evaluator.tasks.layout.evidence import judged_parts, judged_people
from vocboard.evaluator.tasks.layout.parts import judge as judge_parts
from vocboard.evaluator.tasks.layout.truth import LayoutTruth
from vocboard.evaluator.tasks.layout.whole_person import judge_by_box, judge_by_index
from vocboard.evaluator.tasks.ranked_classes import RankedClass
from vocboard.evaluator.tasks.ranked_classes import score as score_classes
from vocboard.evaluator.tasks.scorer import LabelMapCounts, Scorer

# Secondary metrics with true and false positives of their own.
WHOLE_PEOPLE = frozenset({Metric.WHOLE_PERSON_AVERAGE_PRECISION, Metric.AVERAGE_PRECISION_BY_CONFIDENCE})


def score(competition: Competition, layouts: Layouts, truth: LayoutTruth, edition: Edition) -> CompetitionScores:
    """Score layouts by the competition's protocol.

    Secondary metrics, if the rules have them:

    - `average_precision_by_confidence` (VOC2008): whole people ranked by confidence, as in the document. The primary
      score is the kit's, which ranks by the order of the file.
    - `whole_person_average_precision` (from VOC2010 on): average precision, in the edition's interpolation, of whole
      people by VOC2009's protocol: a layout is correct if all parts of the listed person are, and only the first
      correct one per person counts, ranked by confidence. Layouts with a single part can be correct, unlike in the kits
      up to 2008.
    - `best_f1`: the largest F-measure over all ranks of the primary metric.
    """
    types = len(edition.parts)
    rules = competition.rules

    def whole_people(metric: Metric) -> Measure:
        judgement = judge_secondary(metric, layouts, truth, edition)
        return Measure(metric, {PERSON: judgement.average_precision(rules.interpolation, rules.without_positives)})

    if rules.layout_protocol is LayoutProtocol.PARTS:
        ranked = dict(zip(edition.parts, judge_parts(layouts, truth, edition.overlap, types), strict=True))
    else:
        judgement = judge_whole_people(competition, layouts, truth, edition)
        ranked = {PERSON: RankedClass(judgement, results=len(layouts.confidence))}
    return score_classes(competition, ranked, tuple(map(whole_people, WHOLE_PEOPLE & set(rules.secondary))))


def judge_secondary(metric: Metric, layouts: Layouts, truth: LayoutTruth, edition: Edition) -> Judgement:
    """Judge layouts in rank order for one of the secondary metrics; see `score`.

    Raises:
        ValueError: it is another metric.
    """
    if metric not in WHOLE_PEOPLE:
        raise ValueError(f"{metric} is not defined for this task")
    return judge_by_index(
        layouts,
        truth,
        edition.overlap,
        len(edition.parts),
        single_part_may_be_right=metric is Metric.WHOLE_PERSON_AVERAGE_PRECISION,
    )


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


class LayoutScorer(Scorer[LayoutTruth]):
    """Scores layout."""

    def score(
        self, entry: Entry, truth: LayoutTruth, edition: Edition, public: ImageSet, label_maps: LabelMapCounts | None
    ) -> CompetitionScores:
        """Score an entry."""
        return score(entry.competition, entry.content, truth, edition)

    def evidence(
        self, entry: Entry, truth: LayoutTruth, edition: Edition, public: ImageSet, confusions: ImageConfusions | None
    ) -> EvidenceByClass[JudgedResults]:
        """Return the judged parts of each type, or the judged layouts."""
        layouts, rules = entry.content, entry.competition.rules
        if rules.layout_protocol is LayoutProtocol.PARTS:
            classes = judged_parts(layouts, truth, edition)
        else:
            judgement = judge_whole_people(entry.competition, layouts, truth, edition)
            classes = {PERSON: judged_people(layouts, judgement, truth, rules.layout_protocol)}
        others = {
            metric: {PERSON: judged_people(layouts, judge_secondary(metric, layouts, truth, edition), truth, None)}
            for metric in rules.secondary
            if metric in WHOLE_PEOPLE
        }
        return EvidenceByClass(len(public.images), classes, others)
