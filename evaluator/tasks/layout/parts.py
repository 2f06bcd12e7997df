"""Scores person layout by parts, from VOC2010 on.

Source: VOC development kit 2010, VOCevallayout_pr.m; VOC2010 document section 6.4.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.boxes import best_overlapping, is_enough
from vocboard.evaluator.metrics.precision_recall import by_confidence, first_of_each
from vocboard.evaluator.results import Layouts
from vocboard.evaluator.rules import Overlap
from vocboard.evaluator.tasks.layout.people import people_by_index
from vocboard.evaluator.tasks.layout.truth import LayoutTruth


@dataclass(frozen=True, eq=False, slots=True)
class JudgedParts:
    """The parts of all layouts that count.

    Attributes:
        part: (n,) index into the parts of `Layouts`, by rank: the confidence of their layouts, then the layout's order.
        true: (n,) bool.
    """

    part: NDArray[np.int64]
    true: NDArray[np.bool_]


def judge_parts(layouts: Layouts, truth: LayoutTruth, rule: Overlap, types: int) -> JudgedParts:
    """Judge all parts, ranked by the confidence of their layouts, then in the order of the layout.

    A part is compared with the true part of its type and person that it overlaps most (the first among equals). It is
    true if the overlap is sufficient and no earlier part of the layout matches the same true part; otherwise false.
    Positives are all parts of listed people. Layouts of unlisted people are ignored, and so are all but the most
    confident layout of a person.

    Args:
        layouts: with `object`.
        truth: the listed people.
        rule: when an overlap is sufficient.
        types: number of part types.
    """
    people = people_by_index(layouts, truth)
    rank = by_confidence(layouts.confidence)
    of_listed = rank[people.known[rank]]
    chosen = of_listed[first_of_each(people.person[of_listed])]

    place = np.full(len(rank), len(rank))  # of a layout among those chosen
    place[chosen] = np.arange(len(chosen))
    parts = np.argsort(place[layouts.part_layout], kind="stable")
    parts = parts[place[layouts.part_layout[parts]] < len(rank)]

    part_type = layouts.part_type[parts]
    best, overlap = best_overlapping(
        layouts.part_box[parts],
        people.person[layouts.part_layout[parts]] * types + part_type,
        truth.part_box,
        truth.part_person.astype(np.int64) * types + truth.part_type,
    )
    true = is_enough(overlap, rule)
    claims = np.flatnonzero(true)
    true[claims] = first_of_each(best[claims])
    return JudgedParts(parts, true)
