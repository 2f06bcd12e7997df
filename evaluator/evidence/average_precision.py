"""Average precision of many selections of the test images at once.

A selection gives each result the weight of its image. The cumulative weights of true and of false positives by rank
give precision and recall. Only a few ranks matter: recall changes at true positives alone, and within a run of true
positives without a false one in between, precision increases, so that the last one has the highest. So it suffices to
know both sums at the end of each run.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.evidence.segment_sums import segment_sums
from vocboard.evaluator.evidence.weights import Weights
from vocboard.evaluator.metrics.precision_recall import ELEVEN_RECALLS, Judgement
from vocboard.evaluator.rules import Interpolation, WithoutPositives


@dataclass(frozen=True, eq=False, slots=True)
class ResampledAveragePrecision(Resampled):
    """Average precision of the ranked results of one class.

    Attributes:
        judgement: which results are true and false positives, by rank.
        image: (n,) int32 index of each result's image, by rank.
        positive_image: (p,) int32 index of each positive's image.
        interpolation: how the average precision is computed from the curve.
        without_positives: score of a selection without positives; see `Judgement.average_precision`.
    """

    judgement: Judgement
    image: NDArray[np.int32]
    positive_image: NDArray[np.int32]
    interpolation: Interpolation
    without_positives: WithoutPositives = WithoutPositives.UNDEFINED

    takes_maximum = True  # see `Resampled`

    def score(self) -> float:
        """Return the average precision; see `Judgement.average_precision`."""
        return self.judgement.average_precision(self.interpolation, self.without_positives)

    def replicates(self, weights: Weights) -> NDArray[np.float64]:
        """Return the average precision of each selection; see `Resampled.replicates`."""
        positives = segment_sums(weights, self.positive_image, np.array([len(self.positive_image)]))[0]
        false, true = cumulative_counts(self.judgement, self.image, weights)
        best = true / np.maximum(true + false, 1)  # of runs without weight at the start: 0 out of 0
        for run in range(len(best) - 2, -1, -1):
            np.maximum(best[run], best[run + 1], out=best[run])
        at_least_one = np.maximum(positives, 1)
        if self.interpolation is Interpolation.ELEVEN_POINT:
            scores = _eleven_point_average(true, best, at_least_one)
        else:
            scores = np.einsum("rb,rb->b", np.diff(true, axis=0, prepend=0), best) / at_least_one
        is_zero = self.without_positives is WithoutPositives.ZERO and self.interpolation is Interpolation.ELEVEN_POINT
        scores[positives == 0] = 0.0 if is_zero else np.nan
        return scores


def cumulative_counts(
    judgement: Judgement, image: NDArray[np.integer], weights: Weights
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the numbers of false and of true positives up to the end of each run of true positives.

    Args:
        judgement: (n,) results by rank.
        image: (n,) index of each result's image.
        weights: (images, b) how often each selection draws each image.

    Returns:
        Two (r, b) arrays.
    """
    counted = np.flatnonzero(judgement.true | judgement.false)
    is_true = judgement.true[counted]
    length = int(np.flatnonzero(is_true)[-1]) + 1 if is_true.any() else 0  # false positives after the last true one
    counted, is_true = counted[:length], is_true[:length]
    ends = np.append(np.flatnonzero(is_true[1:] != is_true[:-1]) + 1, length) if length else np.empty(0, dtype=np.int64)
    if length and is_true[0]:
        ends = np.concatenate(([0], ends))  # segments alternate, beginning with false positives
    counts = segment_sums(weights, image[counted], ends).reshape(-1, 2, weights.shape[1])
    for run in range(1, len(counts)):
        counts[run] += counts[run - 1]
    return counts[:, 0], counts[:, 1]


def _eleven_point_average(
    true: NDArray[np.int32], best: NDArray[np.float64], positives: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return (b,) the mean of the interpolated precision at recalls 0, 0.1 ... 1.

    Args:
        true: (r, b) true positives, non-decreasing.
        best: (r, b) highest precision from there on.
        positives: (b,) number of positives, at least 1.
    """
    runs, columns = len(true), np.arange(len(positives))
    # Binary search for the first run that reaches each recall, in all selections at once.
    low = np.zeros((len(ELEVEN_RECALLS), len(positives)), dtype=np.int64)
    high = np.full_like(low, runs)
    for _ in range(runs.bit_length()):
        middle = (low + high) // 2
        reaches = true[np.minimum(middle, runs - 1), columns] / positives >= ELEVEN_RECALLS[:, None]
        is_open = low < high
        high = np.where(is_open & reaches, middle, high)
        low = np.where(is_open & ~reaches, middle + 1, low)
    reached = np.concatenate((best, np.zeros((1, len(positives)))))[low, columns]
    # Summed in the evaluation's order, so that not even rounding differs.
    return np.asarray(np.ascontiguousarray(reached.T).sum(axis=1) / len(ELEVEN_RECALLS), dtype=np.float64)
