"""Evidence of person layouts for statistics: which are right, by rank, and on which images."""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.ranked_evidence import JudgedResults
from vocboard.evaluator.metrics.precision_recall import Judgement, by_confidence
from vocboard.evaluator.results import Layouts
from vocboard.evaluator.rules import Edition, LayoutProtocol
from vocboard.evaluator.tasks.layout.parts import judge_parts
from vocboard.evaluator.tasks.layout.truth import LayoutTruth


def judged_parts(layouts: Layouts, truth: LayoutTruth, edition: Edition) -> dict[str, JudgedResults]:
    """Return the judged parts of each type.

    Args:
        layouts: with `object`.
        truth: the listed people.
        edition: the edition, whose rules apply.
    """
    judged = judge_parts(layouts, truth, edition.overlap, len(edition.parts))
    image, part_type = layouts.image[layouts.part_layout[judged.part]], layouts.part_type[judged.part]
    part_image = truth.image[truth.part_person]
    return {
        name: JudgedResults(
            image=image[part_type == index],
            true=judged.true[part_type == index],
            false=~judged.true[part_type == index],
            positive_image=part_image[truth.part_type == index],
        )
        for index, name in enumerate(edition.parts)
    }


def judged_people(
    layouts: Layouts, judgement: Judgement, truth: LayoutTruth, protocol: LayoutProtocol | None
) -> JudgedResults:
    """Return the judged layouts of whole people.

    Args:
        layouts: in the order of the file.
        judgement: of the layouts by rank.
        truth: people and their parts.
        protocol: by which they were judged; None for people by index, ranked by confidence.
    """
    in_file_order = protocol is LayoutProtocol.WHOLE_PERSON_BY_INDEX_IN_FILE_ORDER
    rank = np.arange(len(layouts.image)) if in_file_order else by_confidence(layouts.confidence)
    positive = _with_parts(truth) & ~truth.difficult if protocol is LayoutProtocol.WHOLE_PERSON_BY_BOX else slice(None)
    return JudgedResults(layouts.image[rank], judgement.true, judgement.false, truth.image[positive])


def _with_parts(truth: LayoutTruth) -> NDArray[np.bool_]:
    has_parts = np.zeros(len(truth.image), dtype=np.bool_)
    has_parts[truth.part_person] = True
    return has_parts
