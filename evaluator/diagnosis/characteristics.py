"""Normalised average precision of objects of different size, shape, truncation, occlusion and view."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.ranked_evidence import MatchedResults
from vocboard.evaluator.metrics.normalised_precision import normalised_average_precision
from vocboard.evaluator.metrics.object_subsets import judge_subset
from vocboard.evaluator.metrics.precision_recall import Judgement

SIZES = ("extra_small", "small", "medium", "large", "extra_large")
ASPECTS = ("extra_tall", "tall", "medium", "wide", "extra_wide")


def by_characteristic(
    evidence: MatchedResults, judgement: Judgement, part: NDArray[np.integer], names: tuple[str, ...], normal: float
) -> Mapping[str, tuple[int, float]]:
    """Return, for each part, the number of its objects and their normalised average precision; NaN without objects.

    Args:
        evidence: of one class.
        judgement: of the same results.
        part: (m,) index into `names` of each object.
        names: of the parts.
        normal: number of positives for normalised precision.
    """
    found = {}
    for index, name in enumerate(names):
        of_part = judge_subset(judgement, evidence.object, (part == index) & ~evidence.object_difficult)
        found[name] = of_part.positives, normalised_average_precision(of_part, of_part.positives, normal)
    return found
