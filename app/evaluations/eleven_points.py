"""What everyone may see of a class's curve: eleven points with two decimals, computed beside the exact curve.

Points of a good method would say which of its first results are right, so they are not always the exact ones; why,
and what they reveal all the same, is in docs/detail-levels.md.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.precision_recall import ELEVEN_RECALLS
from vocboard.evaluator.scores import AnyCurve, Curve, RocCurve

DECIMALS = 2
GRID = tuple(round(float(value), 1) for value in ELEVEN_RECALLS)  # recalls, or false positive rates
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # between two values of precision that are told apart
STEP_TIMES_POSITIVES = 2
# One false positive before all others lowers eleven points by 1 / m and more each, m the hits before the next one: by
# 10 / positives + 1 / m in all. Where the points' mean is a score, known exactly, their rounding has to hide that much.
STEP_TIMES_POSITIVES_IF_MEAN_IS_SCORE = 10
SAME = 1e-9  # difference of two computations of a score


def eleven_points(curve: AnyCurve, positives: int, scores: Iterable[float]) -> list[float]:
    """Return what is shown of a curve, one value for each of `GRID`.

    Of precision and recall it is the interpolated precision: the largest at that recall or any greater one, 0.0 at
    recalls never reached. It is at most what `ceilings` says, and rounded to a multiple of `step`.

    Of an ROC it is the greatest true positive rate at that false positive rate or any lower one; at 0 it is 0.0, the
    curve's beginning, because the rate there says how many of the first items are all positive.

    Args:
        curve: exact; its corners suffice.
        positives: what there was to find.
        scores: those of the class by any metric.

    Returns:
        Eleven fractions with two decimals, or none where the curve is undefined.
    """
    if not positives:
        return []
    if isinstance(curve, RocCurve):
        return _rounded(_true_positive_rates(curve))
    precision = _interpolated_precision(curve)
    is_mean_score = any(abs(score - precision.mean()) < SAME for score in scores)
    width = step(positives, is_mean_score=is_mean_score)
    return _rounded(np.round(np.minimum(precision, ceilings(positives)) / width) * width)


def ceilings(positives: int) -> NDArray[np.float64]:
    """(11,) the greatest precision shown at each recall: that of its hits with one false positive among them.

    So a method without false positives so far looks like one with a single one anywhere. At recall 0 the hits are those
    of recall 0.1.
    """
    hits = np.searchsorted(np.arange(positives + 1) / positives, ELEVEN_RECALLS[1:], side="left")
    hits = np.concatenate([hits[:1], hits])
    highest: NDArray[np.float64] = hits / (hits + 1)
    return highest


def step(positives: int, *, is_mean_score: bool) -> float:
    """Return the step to whose multiples precision is rounded: 0.01 where there are enough positives, else wider.

    Args:
        is_mean_score: whether the mean of the eleven exact points is a score of the class, as up to VOC2009.

    >>> step(200, is_mean_score=False), step(200, is_mean_score=True), step(20, is_mean_score=False)
    (0.01, 0.05, 0.1)
    """
    least = (STEP_TIMES_POSITIVES_IF_MEAN_IS_SCORE if is_mean_score else STEP_TIMES_POSITIVES) / positives
    return next((width for width in STEPS if width >= least), STEPS[-1])


def _interpolated_precision(curve: Curve) -> NDArray[np.float64]:
    defined = ~(np.isnan(curve.recall) | np.isnan(curve.precision))
    recall, precision = curve.recall[defined], curve.precision[defined]
    best_from_here_on = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)
    found: NDArray[np.float64] = best_from_here_on[np.searchsorted(recall, ELEVEN_RECALLS, side="left")]
    return found


def _true_positive_rates(curve: RocCurve) -> NDArray[np.float64]:
    if not len(curve.true_positive_rate) or not curve.is_defined:
        return np.array([])
    last = np.searchsorted(curve.false_positive_rate, ELEVEN_RECALLS, side="right") - 1
    rates = curve.true_positive_rate[last]
    rates[0] = 0.0
    return rates


def _rounded(values: NDArray[np.float64]) -> list[float]:
    return [round(float(value), DECIMALS) for value in values]
