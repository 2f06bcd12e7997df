"""Average precision of objects of different size and shape.

Source: D. Hoiem, Y. Chodpathumwan and Q. Dai, "Diagnosing Error in Object Detectors", ECCV 2012, section 2.3: objects
of each class are sorted and divided at 10, 30, 70 and 90 %. Results that match an object of another part are ignored;
false positives count for every part. Precision is normalised, because parts have few objects.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.normalised_precision import normalised_average_precision
from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.statistics.ranked_evidence import MatchedResults

SHARES = (0.1, 0.3, 0.7, 0.9)
SIZES = ("extra_small", "small", "medium", "large", "extra_large")
ASPECTS = ("extra_tall", "tall", "medium", "wide", "extra_wide")


def by_characteristic(
    evidence: MatchedResults, judgement: Judgement, part: NDArray[np.int64], names: tuple[str, ...], normal: float
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
        in_part = part == index
        true = judgement.true & in_part[evidence.object] if len(in_part) else judgement.true
        positives = int(np.count_nonzero(in_part & ~evidence.object_difficult))
        of_part = Judgement(true, judgement.false, positives)
        found[name] = positives, normalised_average_precision(of_part, positives, normal)
    return found


def fifths(value: NDArray[np.float64], counted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Divide objects by a value at 10, 30, 70 and 90 % of those that count.

    Args:
        value: (m,) of each object.
        counted: (m,) bool; the others are divided at the same values.

    Returns:
        (m,) 0 for the smallest to 4 for the largest. Equal values are never divided: they go to the smaller part.
    """
    ordered = np.sort(value[counted])
    if not len(ordered):
        return np.zeros(len(value), dtype=np.int64)
    places = np.maximum(np.floor(np.array(SHARES) * len(ordered) + 0.5).astype(np.int64), 1) - 1
    return np.searchsorted(ordered[places], value, side="left").astype(np.int64)
