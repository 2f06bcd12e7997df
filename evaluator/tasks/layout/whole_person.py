"""Scores person layout by whole people: a layout is correct only if all parts of the person are.

In the kits of 2007 and 2008, a layout with a single part is never correct: for each type, they check whether every true
part is matched, and for types that the person lacks, `any` of a 1 x 0 matrix is false (for an n x 0 matrix with n > 1
it is empty, which passes). Their scores are the reference, so this is reproduced.

Source: VOC development kits 2007 and 2008, VOCevallayout.m.
"""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.boxes import best_overlapping, intersection_over_union, is_enough, pairs_within_groups
from vocboard.evaluator.metrics.precision_recall import Judgement, by_confidence, first_of_each
from vocboard.evaluator.results import Layouts
from vocboard.evaluator.rules import Overlap
from vocboard.evaluator.tasks.layout.people import People, people_by_index
from vocboard.evaluator.tasks.layout.truth import LayoutTruth


def judge_by_box(layouts: Layouts, truth: LayoutTruth, rule: Overlap, types: int) -> Judgement:
    """Classify layouts that identify their person by box, as in VOC2007.

    A layout belongs to the person of its image that its box overlaps most. By decreasing confidence, the first layout
    of a person is matched to it, correct or not; later ones are false, and so are layouts without sufficient overlap.
    Positives are non-difficult people with parts. As in the kit, difficult people are not treated differently
    otherwise: a correct layout of one is true. The kit fails for layouts without parts; here they are false.

    Args:
        layouts: with `person_box`.
        truth: all people in the test images.
        rule: when an overlap is sufficient, for people and parts.
        types: number of part types.
    """
    if layouts.person_box is None:
        raise ValueError("these layouts name no person by box")
    best, overlap = best_overlapping(layouts.person_box, layouts.image, truth.box, truth.image)
    people = People(best, is_enough(overlap, rule))
    has_parts = np.zeros(len(truth.image), dtype=np.bool_)
    has_parts[truth.part_person] = True
    right = _all_parts_right(layouts, truth, people, rule, types) & ~_single_part(layouts)
    right[people.known] &= has_parts[people.person[people.known]]

    rank = by_confidence(layouts.confidence)
    claims = rank[people.known[rank]]
    first = np.zeros_like(right)
    first[claims[first_of_each(people.person[claims])]] = True
    true = (first & right)[rank]
    return Judgement(true=true, false=~true, positives=int(np.count_nonzero(has_parts & ~truth.difficult)))


def judge_by_index(
    layouts: Layouts,
    truth: LayoutTruth,
    rule: Overlap,
    types: int,
    *,
    in_file_order: bool = False,
    single_part_may_be_right: bool = False,
) -> Judgement:
    """Classify layouts that identify their person by object index, as in VOC2008 and later.

    Only correct layouts are matched to their person, so a later one can be correct after a wrong one; further correct
    ones are false. Layouts of unlisted people are ignored. Positives are all listed people.

    Args:
        layouts: with `object`.
        truth: the listed people.
        rule: when an overlap is sufficient.
        types: number of part types.
        in_file_order: whether to rank by the order of the file, as the VOC2008 kit does, instead of by decreasing
            confidence.
        single_part_may_be_right: False to treat layouts with one part as wrong, like the kits; see above.
    """
    people = people_by_index(layouts, truth)
    right = _all_parts_right(layouts, truth, people, rule, types)
    if not single_part_may_be_right:
        right &= ~_single_part(layouts)
    rank = np.arange(len(right)) if in_file_order else by_confidence(layouts.confidence)
    claims = rank[right[rank]]
    true = np.zeros_like(right)
    true[claims[first_of_each(people.person[claims])]] = True
    return Judgement(true=true[rank], false=(people.known & ~true)[rank], positives=len(truth.image))


def _all_parts_right(
    layouts: Layouts, truth: LayoutTruth, people: People, rule: Overlap, types: int
) -> NDArray[np.bool_]:
    """Return (n,) bool: whether a layout has exactly its person's parts.

    It must have as many parts of each type as the person, and for each type every true part must be matched by some
    part of the layout and at least as many parts of the layout must match some true one.
    """
    layouts_count, people_count = len(people.known), len(truth.image)
    bag = _count_parts(layouts.part_layout, layouts.part_type, layouts_count, types)
    true_bag = _count_parts(truth.part_person, truth.part_type, people_count, types)
    right = people.known.copy()
    right[right] = (bag[right] == true_bag[people.person[right]]).all(axis=1)

    # Compare the parts of layouts that are correct so far with those of the same type of their person.
    compared = np.flatnonzero(right[layouts.part_layout])
    layout = layouts.part_layout[compared].astype(np.int64)
    matching = np.zeros(len(compared), dtype=np.bool_)
    matched: list[NDArray[np.int64]] = []  # true parts, as layout * (number of true parts) + true part
    for found, true in pairs_within_groups(
        people.person[layout] * types + layouts.part_type[compared],
        truth.part_person.astype(np.int64) * types + truth.part_type,
    ):
        overlap = intersection_over_union(layouts.part_box[compared[found]], truth.part_box[true])
        enough = is_enough(overlap, rule)
        matching[found[enough]] = True
        matched.append(layout[found[enough]] * len(truth.part_person) + true[enough])
    matching_count = np.bincount(layout[matching], minlength=layouts_count)
    # Each once. (`np.unique` takes longer than everything else here when it is first called: it imports masked arrays.)
    matched_true = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *matched]))
    matched_true = matched_true[np.diff(matched_true, prepend=-1) > 0]
    matched_count = np.bincount(matched_true // max(1, len(truth.part_person)), minlength=layouts_count)
    parts = bag.sum(axis=1)
    # With equal bags, "at least as many" in every type is all of them.
    right &= (matching_count == parts) & (matched_count == parts)
    return right


def _single_part(layouts: Layouts) -> NDArray[np.bool_]:
    parts: NDArray[np.int64] = np.bincount(layouts.part_layout, minlength=len(layouts.confidence))
    return np.equal(parts, 1)


def _count_parts(owner: NDArray[np.int32], part_type: NDArray[np.int8], owners: int, types: int) -> NDArray[np.int64]:
    """Return the (owners, types) number of parts."""
    counts = np.bincount(owner.astype(np.int64) * types + part_type, minlength=owners * types)
    return counts.reshape(owners, types)
