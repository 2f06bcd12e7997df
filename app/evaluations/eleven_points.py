"""The public form of a class's curve: eleven points with two decimals.

The points are not always exact, because exact points of a good method would reveal which of its first results are
correct. See docs/detail-levels.md for the rules and for what the points still reveal.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.metrics.precision_recall import ELEVEN_RECALLS
from vocboard.evaluator.scores import AnyCurve, Curve, RocCurve

DECIMALS = 2
GRID = tuple(round(float(value), 1) for value in ELEVEN_RECALLS)  # recalls or false positive rates
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # between two displayed values of precision
# Without this limit, a precision one step below n / (n + 1) after n true positives meant that the second false positive
# was before the n-th true positive and the third one long after it: of 225 positives, it made 12 certain. Nearer to
# 0.94, more numbers of false positives are possible. A ceiling of n / (n + 2) would hide them as well, but say more
# exactly how many positives there are. A limit for all only takes information away, if it is a multiple of both
# 0.01 and 0.02: otherwise it tells on which side of 200 the number of positives is.
HIGHEST = 0.94
MAX_STEP = 0.1  # what is coarser is not shown: beside scores with two decimals, it would mislead
STEP_TIMES_POSITIVES = 2
# One false positive before all others lowers the sum of the eleven points by 10 / positives + 1 / m, where m is the
# number of true positives before the next one. If the points' mean is a score, rounding has to hide this amount.
STEP_TIMES_POSITIVES_IF_MEAN_IS_SCORE = 10
# Precision at low recalls depends on few results, and not on how many objects there are: an author who puts just enough
# results known to be wrong before others learns whether all of these are right, whatever the step. At recalls from 0.5
# on, this takes an author who knows half of the class.
SHOWN_FROM = 5  # place in `GRID`
SAME = 1e-9  # tolerance between two computations of a score


def eleven_points(curve: AnyCurve, positives: int, scores: Iterable[float]) -> list[float]:
    """Return the displayed values of a curve, one for each of `GRID`.

    For precision and recall: the interpolated precision, which is the maximum at this recall or any higher one, or 0.0
    for recalls that are not reached; at recalls below 0.5 that of recall 0.5 (`SHOWN_FROM`). It is limited by
    `ceilings` and rounded to a multiple of `step`.

    For an ROC: the maximum true positive rate at this false positive rate or any lower one; 0.0 at 0, because the exact
    rate there would reveal how many of the first items are all positive.

    Args:
        curve: the exact curve, or only its corners.
        positives: number of positives.
        scores: the class's scores by all metrics.

    Returns:
        Eleven fractions with two decimals; empty if the curve is undefined, or the step is above `MAX_STEP`.
    """
    if not positives:
        return []
    if isinstance(curve, RocCurve):
        return _rounded(_true_positive_rates(curve))
    precision = _interpolated_precision(curve)
    exact_mean = precision.mean()
    precision[:SHOWN_FROM] = precision[SHOWN_FROM]
    is_mean_score = any(abs(score - exact_mean) < SAME for score in scores)
    width = step(positives, is_mean_score=is_mean_score)
    if width > MAX_STEP:
        return []
    return _rounded(np.round(np.minimum(precision, ceilings(positives)) / width) * width)


def ceilings(positives: int) -> NDArray[np.float64]:
    """Return the (11,) maximum displayed precision at each recall: n / (n + 1), but not more than `HIGHEST`.

    n is the number of true positives at the recall; recalls below 0.5 use that of 0.5. So a method without false
    positives up to a recall looks like one with a single false positive, or with up to 6 % false positives.
    """
    # Where rounding makes the product too large, n is above 16 and `HIGHEST` is the ceiling anyway.
    hits = np.ceil(ELEVEN_RECALLS * positives)
    hits[:SHOWN_FROM] = hits[SHOWN_FROM]
    highest: NDArray[np.float64] = np.minimum(hits / (hits + 1), HIGHEST)
    return highest


def step(positives: int, *, is_mean_score: bool) -> float:
    """Return the rounding step of precision: 0.01 if there are enough positives, otherwise larger.

    Args:
        is_mean_score: whether the mean of the eleven exact points is a score, as in editions up to VOC2009.

    >>> step(200, is_mean_score=False), step(200, is_mean_score=True), step(20, is_mean_score=False)
    (0.01, 0.05, 0.1)
    """
    least = (STEP_TIMES_POSITIVES_IF_MEAN_IS_SCORE if is_mean_score else STEP_TIMES_POSITIVES) / positives
    return next((width for width in STEPS if width >= least), STEPS[-1])


def shown_step(values: Sequence[float], positives: int) -> float | None:
    """Return the step of the displayed precision of a class, which follows from it and the number of positives.

    Returns:
        None if it is too coarse to be shown: what earlier versions have stored may be.

    >>> shown_step([0.9, 0.85, 0.0], 200), shown_step([0.93, 0.87, 0.0], 200), shown_step([0.5, 0.0], 4)
    (0.05, 0.01, None)
    """
    widths = [step(positives, is_mean_score=is_mean) for is_mean in (True, False)]
    # A list that reaches no recall is in any step; its curve is shown if one of the same class could be.
    width = widths[0] if any(values) and _are_multiples(values, widths[0]) else widths[1]
    return width if width <= MAX_STEP else None


def _are_multiples(values: Sequence[float], width: float) -> bool:
    return all(abs(value / width - round(value / width)) < SAME for value in values)


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
