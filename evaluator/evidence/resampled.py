"""A score of one class that can be computed for any selection of the test images."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.weights import Weights


class Resampled(ABC):
    """One metric of one class of one method."""

    @property
    def takes_maximum(self) -> bool:
        """Whether the score is a maximum over ranks or thresholds, or has some in it, and so a bias; see `bias`."""
        return False

    @abstractmethod
    def score(self) -> float:
        """Return the score on the test images, to the last bit what the evaluation returns; NaN if undefined."""

    @abstractmethod
    def replicates(self, weights: Weights) -> NDArray[np.float64]:
        """Return the scores on selections of the test images.

        An image that is drawn k times counts as k images, each with a copy of its ground truth and of its results.
        Copies of a result follow each other in the ranking, at the place of the result; of a layout, those of each
        part.

        Args:
            weights: (images, b) how often each selection draws each image.

        Returns:
            (b,) scores; NaN where undefined. Up to rounding they are what the evaluation returns for the copies.
        """


@dataclass(frozen=True, eq=False, slots=True)
class ResampledMean(Resampled):
    """The mean of several scores of one class, such as the average precision at several overlaps."""

    of: tuple[Resampled, ...]

    @property
    def takes_maximum(self) -> bool:
        """Whether one of the scores does."""
        return any(each.takes_maximum for each in self.of)

    def score(self) -> float:
        """Return the mean; NaN if one is undefined."""
        return float(np.mean([each.score() for each in self.of]))

    def replicates(self, weights: Weights) -> NDArray[np.float64]:
        """Return the mean of each selection; NaN where one is undefined."""
        return np.asarray(np.mean([each.replicates(weights) for each in self.of], axis=0), dtype=np.float64)
