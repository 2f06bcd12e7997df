"""Shares of what is counted in each image, of many selections of the test images at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.evidence.weights import Weights


@dataclass(frozen=True, eq=False, slots=True)
class ImageShares(Resampled):
    """A ratio of sums over images: the share of a label's pixels that are correct, or of a class's objects found.

    A mean over images is one, too: the sum of each image's score over the number of images that have one.

    Attributes:
        correct: (n,) what each image adds to the numerator; whole numbers as float64 are exact up to 2^53.
        total: (n,) what each image adds to the denominator: pixels, objects, or 1; 0 if it has none.
        undefined: the score if there are none.
    """

    correct: NDArray[np.float64]
    total: NDArray[np.float64]
    undefined: float = float("nan")

    def score(self) -> float:
        """Return the share on the test images."""
        total = self.total.sum()
        return float(self.correct.sum() / total) if total else self.undefined

    def replicates(self, weights: Weights) -> NDArray[np.float64]:
        """Return the share of each selection."""
        shown = np.flatnonzero(self.total)  # most classes are in few images
        counts = np.stack((self.correct[shown], self.total[shown])) @ weights[shown].astype(np.float64)
        scores = np.full(weights.shape[1], self.undefined)
        np.divide(counts[0], counts[1], out=scores, where=counts[1] > 0)
        return scores
