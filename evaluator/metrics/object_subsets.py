"""Results of a class judged by how well they find some of its objects: the small ones, say, or the occluded ones.

Objects outside of the subset are neither positives nor a reason to count a result as wrong: a result that finds one is
ignored, as for difficult objects. Results that find nothing are wrong for every subset, since nobody can tell which
objects they meant. So a subset with few objects has a low precision, which is why it is normalised
(`normalised_precision`), and subsets can be compared.

Source: D. Hoiem, Y. Chodpathumwan and Q. Dai, "Diagnosing Error in Object Detectors", ECCV 2012, section 2.3.

COCO's average precision by area instead counts only the wrong results whose own area is in the range, without
normalising. Source: COCOeval.evaluateImg of pycocotools.
"""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.precision_recall import Judgement

# Objects of each class, by size or by shape, are divided at 10, 30, 70 and 90 %: section 2.3.
SHARES = (0.1, 0.3, 0.7, 0.9)


def judge_subset(
    judgement: Judgement,
    found: NDArray[np.integer],
    counted: NDArray[np.bool_],
    comparable: NDArray[np.bool_] | None = None,
) -> Judgement:
    """Return the judgement of the same results by some objects of the class.

    Args:
        judgement: by all objects of the class; (n,) results by rank.
        found: (n,) index of the object that each true positive finds; other elements are meaningless.
        counted: (m,) bool, the objects of the subset that are not difficult.
        comparable: (n,) bool, results that count if they are wrong. Default: all.
    """
    ranks = np.flatnonzero(judgement.true)
    true = np.zeros_like(judgement.true)
    true[ranks] = counted[found[ranks]]
    false = judgement.false if comparable is None else judgement.false & comparable
    return Judgement(true, false, int(np.count_nonzero(counted)))


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
