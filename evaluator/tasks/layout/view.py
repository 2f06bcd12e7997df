"""Layouts on pages of `vocboard view`: their parts."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import Competition, Edition, LayoutProtocol
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.boxes import best_overlapping, is_enough
from vocboard.evaluator.metrics.precision_recall import by_confidence
from vocboard.evaluator.results import Entry, Layouts
from vocboard.evaluator.tasks.layout.parts import judge_parts
from vocboard.evaluator.tasks.layout.people import people_by_index
from vocboard.evaluator.tasks.layout.rows import LayoutRows
from vocboard.evaluator.tasks.layout.scoring import judge_whole_people
from vocboard.evaluator.tasks.layout.truth import LayoutTruth
from vocboard.evaluator.viewing.entries import NO_OBJECT, Page, ResultRows, ResultView, unjudged
from vocboard.evaluator.viewing.marks import Mark


class LayoutView(ResultView):
    """Parts with the confidence of their layout. If whole people are judged, all parts have the layout's mark."""

    kinds = ("correct", "wrong", "ignored")
    annotated_by = "parts"

    def rows(self, entry: Entry, image_set: ImageSet, page: Page) -> Iterator[ResultRows]:
        """Yield the parts by type and confidence."""
        layouts: Layouts = entry.content
        truth = page.truth_of(entry.competition)
        mark, matched = unjudged(len(layouts.part_layout))
        if isinstance(truth, LayoutTruth):
            mark, person = _judged_parts(layouts, truth, entry.competition, page.edition)
            of_truth = page.objects(image_set, np.stack([truth.image, truth.object], axis=1))
            matched = np.append(of_truth, NO_OBJECT)[person]
        for rows in LayoutRows().rows(entry, page.edition, image_set):
            yield ResultRows.of(rows, mark[rows.source], matched[rows.source])


def _judged_parts(
    layouts: Layouts, truth: LayoutTruth, competition: Competition, edition: Edition
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the mark of each part, and the index of its person in the truth; `NO_OBJECT` for nobody."""
    if layouts.person_box is not None:
        best, overlap = best_overlapping(layouts.person_box, layouts.image, truth.box, truth.image)
        person = np.where(is_enough(overlap, edition.overlap), best, NO_OBJECT)
    else:
        people = people_by_index(layouts, truth)
        person = np.where(people.known, people.person, NO_OBJECT)
    if competition.rules.layout_protocol is LayoutProtocol.PARTS:
        mark = np.full(len(layouts.part_layout), Mark.IGNORED, dtype=np.uint8)
        judged = judge_parts(layouts, truth, edition.overlap, len(edition.parts))
        mark[judged.part] = np.where(judged.true, Mark.CORRECT, Mark.WRONG)
        return mark, person[layouts.part_layout]
    judgement = judge_whole_people(competition, layouts, truth, edition)
    in_file_order = competition.rules.layout_protocol is LayoutProtocol.WHOLE_PERSON_BY_INDEX_IN_FILE_ORDER
    rank = np.arange(len(layouts.confidence)) if in_file_order else by_confidence(layouts.confidence)
    of_layout = np.full(len(layouts.confidence), Mark.IGNORED, dtype=np.uint8)
    of_layout[rank[judgement.false]] = Mark.WRONG
    of_layout[rank[judgement.true]] = Mark.CORRECT
    return of_layout[layouts.part_layout], person[layouts.part_layout]
