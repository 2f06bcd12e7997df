"""Normalised average precision of many selections of the test images at once, of all objects of a class or of some.

See `evaluator.metrics.normalised_precision` and `object_subsets` for what is computed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.average_precision import cumulative_counts
from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.evidence.segment_sums import segment_sums
from vocboard.evaluator.evidence.weights import Weights
from vocboard.evaluator.metrics.normalised_precision import normalised_average_precision
from vocboard.evaluator.metrics.object_subsets import SHARES, fifths, judge_subset
from vocboard.evaluator.metrics.precision_recall import Judgement


@dataclass(frozen=True, eq=False, slots=True)
class ResampledNormalisedPrecision(Resampled):
    """Normalised average precision of the ranked results of one class.

    Attributes:
        judgement: which results are true and false positives, by rank.
        image: (n,) int32 index of each result's image, by rank.
        positive_image: (p,) int32 index of each positive's image.
        normal: number of positives for precision. Each selection has as many images as the test set, so it has the
            same.
    """

    judgement: Judgement
    image: NDArray[np.int32]
    positive_image: NDArray[np.int32]
    normal: float

    takes_maximum = True  # see `Resampled`

    def score(self) -> float:
        """Return the score on the test images; see `normalised_average_precision`."""
        return normalised_average_precision(self.judgement, self.judgement.positives, self.normal)

    def replicates(self, weights: Weights) -> NDArray[np.float64]:
        """Return the score of each selection; NaN without positives."""
        return _replicates(self.judgement, self.image, self.positive_image, self.normal, weights)


@dataclass(frozen=True, eq=False, slots=True)
class ResampledFifth(Resampled):
    """Normalised average precision of a class's objects of similar size or shape.

    Which objects these are depends on all objects of the class, so on the selection: its smallest 10 %, say, can be
    larger than those of the test set.

    Attributes:
        judgement: by all objects of the class; (n,) results by rank.
        image: (n,) int32 index of each result's image.
        found: (n,) int32 index of the object that each true positive finds.
        object_image: (m,) int32 index of each object's image.
        value: (m,) by which objects are divided; see `fifths`.
        counted: (m,) bool, objects that are not difficult.
        fifth: 0 for the smallest to 4 for the largest.
        normal: see `ResampledNormalisedPrecision`.
    """

    judgement: Judgement
    image: NDArray[np.int32]
    found: NDArray[np.int32]
    object_image: NDArray[np.int32]
    value: NDArray[np.float64]
    counted: NDArray[np.bool_]
    fifth: int
    normal: float

    takes_maximum = True  # see `Resampled`

    def score(self) -> float:
        """Return the score on the test images; see `normalised_average_precision`."""
        judged = judge_subset(
            self.judgement, self.found, (fifths(self.value, self.counted) == self.fifth) & self.counted
        )
        return normalised_average_precision(judged, judged.positives, self.normal)

    def replicates(self, weights: Weights) -> NDArray[np.float64]:
        """Return the score of each selection; NaN without such objects."""
        own = np.flatnonzero(self.counted)
        drawn = weights[self.object_image[own]]
        drawn *= fifths_of_selections(self.value[own], drawn, self.fifth)
        # True positives have the weight of their object, which is 0 outside of the fifth; all else has its image's.
        place = np.zeros(len(self.counted), dtype=np.int64)
        place[own] = len(weights) + np.arange(len(own))
        row = self.image.astype(np.int64)
        true = np.flatnonzero(self.judgement.true)
        row[true] = place[self.found[true]]
        return _replicates(self.judgement, row, place[own], self.normal, np.concatenate((weights, drawn)))


def fifths_of_selections(value: NDArray[np.float64], weights: Weights, fifth: int) -> NDArray[np.bool_]:
    """Return which objects are in a fifth of each selection; see `fifths`.

    Args:
        value: (m,) of each object.
        weights: (m, b) how often each selection draws each object.
        fifth: 0 for the smallest values to 4 for the largest.

    Returns:
        (m, b); objects that are not drawn count for nothing, whatever is said of them.
    """
    order = np.argsort(value, kind="stable")
    rank = np.unique(value, return_inverse=True)[1]  # equal values have the same
    up_to = weights[order].cumsum(axis=0, dtype=np.int32)
    inside = np.ones(weights.shape, dtype=np.bool_)
    if not len(value):
        return inside

    def end(share: float) -> NDArray[np.int64]:
        """Return (b,) the rank of the last value below the share of the objects drawn."""
        place = np.maximum(np.floor(share * up_to[-1] + 0.5), 1)
        last = np.count_nonzero(up_to < place, axis=0)
        return np.asarray(rank[order[np.minimum(last, len(order) - 1)]], dtype=np.int64)

    if fifth > 0:
        inside &= rank[:, None] > end(SHARES[fifth - 1])
    if fifth < len(SHARES):
        inside &= rank[:, None] <= end(SHARES[fifth])
    return inside


def _replicates(
    judgement: Judgement,
    row: NDArray[np.integer],
    positive_row: NDArray[np.integer],
    normal: float,
    weights: Weights,
) -> NDArray[np.float64]:
    """Return (b,) scores.

    Args:
        judgement: (n,) results by rank.
        row: (n,) index into the rows of `weights` of each result.
        positive_row: (p,) that of each positive.
        normal: number of positives for precision.
        weights: (k, b) how often each selection draws what a row stands for.
    """
    positives = segment_sums(weights, positive_row, np.array([len(positive_row)]))[0]
    false, true = cumulative_counts(judgement, row, weights)
    recall = true / np.maximum(positives, 1)
    best = recall * normal
    np.divide(best, best + false, out=best, where=true > 0)
    for run in range(len(best) - 2, -1, -1):
        np.maximum(best[run], best[run + 1], out=best[run])
    scores = np.einsum("rb,rb->b", np.diff(recall, axis=0, prepend=0), best)
    scores[positives == 0] = np.nan
    return np.asarray(scores, dtype=np.float64)
