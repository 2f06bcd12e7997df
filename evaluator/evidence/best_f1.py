"""The best F1 of many selections of the test images at once.

Only few thresholds matter: F1 grows with each true positive and shrinks with each false one, so the best threshold is
after results with a true positive, and before some with a false one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.evidence.segment_sums import segment_sums
from vocboard.evaluator.evidence.weights import Weights
from vocboard.evaluator.metrics.best_f1 import best_f1
from vocboard.evaluator.metrics.precision_recall import Judgement


@dataclass(frozen=True, eq=False, slots=True)
class ResampledBestF1(Resampled):
    """The best F1 of the ranked results of one class.

    Each selection has its own best threshold.

    Attributes:
        judgement: which results are true and false positives, by rank.
        confidence: (n,) non-increasing; None if every rank is a threshold. See `best_f1`.
        image: (n,) int32 index of each result's image, by rank.
        positive_image: (p,) int32 index of each positive's image.
    """

    judgement: Judgement
    confidence: NDArray[np.float64] | None
    image: NDArray[np.int32]
    positive_image: NDArray[np.int32]

    takes_maximum = True  # see `Resampled`

    def score(self) -> float:
        """Return the best F1 on the test images: NaN without positives, 0 if nothing was found."""
        best = best_f1(self.judgement, self.confidence)
        if best is None:
            return 0.0 if self.judgement.positives else float("nan")
        return best.f1

    def replicates(self, weights: Weights) -> NDArray[np.float64]:
        """Return the best F1 of each selection; undefined as above."""
        positives = segment_sums(weights, self.positive_image, np.array([len(self.positive_image)]))[0]
        false, true = self._counts(weights)
        f1 = 2 * true / np.maximum(true + false + positives, 1)
        scores = f1.max(axis=0, initial=0.0)
        scores[positives == 0] = np.nan
        return np.asarray(scores, dtype=np.float64)

    def _counts(self, weights: Weights) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the (t, b) numbers of false and of true positives above each threshold that can be the best."""
        counted = np.flatnonzero(self.judgement.true | self.judgement.false)
        is_true = self.judgement.true[counted]
        group = self._groups(counted)  # of results that are kept or dropped together
        groups = int(group[-1]) + 1 if len(group) else 0
        has_true = np.bincount(group[is_true], minlength=groups) > 0
        has_false = np.bincount(group[~is_true], minlength=groups) > 0
        only_true = has_true & ~has_false
        is_last = has_true & ~np.append(only_true[1:], False)[:groups]
        step = (np.cumsum(is_last) - is_last)[group]
        steps = int(np.count_nonzero(is_last))
        kept = step < steps  # below the last threshold there are only false positives
        segment = 2 * step[kept] + is_true[kept]  # in each step false positives first
        order = np.argsort(segment, kind="stable")
        ends = np.cumsum(np.bincount(segment, minlength=2 * steps))
        counts = segment_sums(weights, self.image[counted[kept][order]], ends).reshape(steps, 2, weights.shape[1])
        for place in range(1, steps):
            counts[place] += counts[place - 1]
        return counts[:, 0], counts[:, 1]

    def _groups(self, counted: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of the group of each result that is not ignored."""
        if self.confidence is None:
            return np.arange(len(counted))
        confidence = self.confidence[counted]
        return np.cumsum(np.append(False, confidence[1:] != confidence[:-1])[: len(counted)])
