"""By how much a score is on average too high or too low, because the test set is finite.

Average precision takes the highest precision at a recall or any higher one, and the highest of several uncertain
numbers is on average too high: the smaller the test set, the more. In a mean of many classes, chance averages out and
this bias does not. Parts of the test set show how it grows: the mean score of its quarters minus that of its halves.
All parts of a division are scored, so that chance cancels in these means. Others would be worse (docs/statistics.md):

- Bootstrap replicates count copies of an image together, so their mean deviates for another reason, too.
- Halves compared with the whole: with 11 points, the score jumps where recall ends near a multiple of 0.1, and the
  whole is on one side of the jump.

Sources: W. R. Schucany, H. L. Gray and D. B. Owen, "On Bias Reduction in Estimation", JASA 1971 (extrapolation from
smaller samples). The bias of the maximum of a curve, and of isotonic estimates, shrinks like n^(-2/3), near the ends of
a curve more slowly: B. L. S. Prakasa Rao, "Estimation of a Unimodal Density", Sankhya 1969.
"""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.evidence.weights import SEED, Weights

DIVISIONS = 12  # into four quarters, of which two make a half
HALVES, QUARTERS = 2, 4
RATE = 0.6  # bias shrinks like images^-RATE
FACTOR = 1 / (QUARTERS**RATE - HALVES**RATE)  # of the bias to the difference of quarters and halves: 1.28
UNCERTAINTY = 0.25  # standard error of the bias, divided by it; from simulations


def draw_parts(images: int) -> Weights:
    """Divide the test images at random into halves and quarters, the same on every machine and for every method.

    Returns:
        (images, 6 × `DIVISIONS`) of each division its halves, then its quarters: 2 or 4 for the images of a part, so
        that it counts for as many images as the test set, and 0 for the others.
    """
    generator = np.random.PCG64(SEED + 1)
    weights = np.zeros((DIVISIONS, HALVES + QUARTERS, images), dtype=np.uint8)
    for division in weights:
        order = np.argsort(generator.random_raw(images), kind="stable")
        for part, weight in enumerate((HALVES,) * HALVES + (QUARTERS,) * QUARTERS):
            division[part, order[part % weight :: weight]] = weight
    return np.ascontiguousarray(weights.reshape(-1, images).T)


def bias_of(resampled: Resampled, scores: NDArray[np.float64]) -> float:
    """Return by how much a score is on average too high, as far as parts of the test set tell.

    Args:
        resampled: what the score is computed from.
        scores: (6 × `DIVISIONS`,) of the parts that `draw_parts` returns. Divisions of which a part does not define
            the score are left out.

    Returns:
        A fraction, negative if the score is on average too low. 0.0 if no division defines it, or the score takes no
        maximum: shares and areas under an ROC curve are right on average, or nearly so.
    """
    if not resampled.takes_maximum:
        return 0.0
    by_division = scores.reshape(-1, HALVES + QUARTERS)
    growth = by_division[:, HALVES:].mean(axis=1) - by_division[:, :HALVES].mean(axis=1)
    defined = growth[~np.isnan(growth)]
    return FACTOR * float(defined.mean()) if len(defined) else 0.0


def bias_of_mean(scores: NDArray[np.float64], biases: NDArray[np.float64]) -> float:
    """Return the bias of the mean over the classes whose score is defined; 0.0 if none is.

    Args:
        scores: (classes,) NaN where undefined.
        biases: (classes,) of these scores.
    """
    is_defined = ~np.isnan(scores)
    return float(biases[is_defined].mean()) if is_defined.any() else 0.0
