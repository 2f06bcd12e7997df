"""How each metric of person layout is computed from the judged parts of a type, or layouts of people.

Secondary metrics in `WHOLE_PEOPLE` judge layouts differently:

- `average_precision_by_confidence` (VOC2008): whole people ranked by confidence, as in the document. The primary score
  is the kit's, which ranks by the order of the file.
- `whole_person_average_precision` (from VOC2010 on): average precision, in the edition's interpolation, of whole people
  by VOC2009's protocol: a layout is correct if all parts of the listed person are, and only the first correct one per
  person counts, ranked by confidence. Layouts with a single part can be correct, unlike in the kits up to 2008.

`best_f1` is the largest F-measure over all ranks of the primary metric.
"""

from collections.abc import Callable, Mapping
from functools import partial

from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.names import Metric
from vocboard.evaluator.results import Layouts
from vocboard.evaluator.rules import Overlap
from vocboard.evaluator.tasks.layout.truth import LayoutTruth
from vocboard.evaluator.tasks.layout.whole_person import judge_by_index
from vocboard.evaluator.tasks.ranked_classes import (
    ClassMetric,
    average_precision,
    average_precision_area,
    best_f1_by_rank,
)

BY_CLASS: Mapping[Metric, ClassMetric] = {
    Metric.AVERAGE_PRECISION: average_precision,
    Metric.AVERAGE_PRECISION_AREA: average_precision_area,
    Metric.AVERAGE_PRECISION_BY_CONFIDENCE: average_precision,
    Metric.WHOLE_PERSON_AVERAGE_PRECISION: average_precision,
    Metric.BEST_F1: best_f1_by_rank,
}
WHOLE_PEOPLE: Mapping[Metric, Callable[[Layouts, LayoutTruth, Overlap, int], Judgement]] = {
    Metric.AVERAGE_PRECISION_BY_CONFIDENCE: judge_by_index,
    Metric.WHOLE_PERSON_AVERAGE_PRECISION: partial(judge_by_index, single_part_may_be_right=True),
}
