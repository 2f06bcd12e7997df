"""Made-up populations of images whose true scores are known, and test sets drawn from them.

Each population has what makes real test sets uncertain: images with many objects and with none, images in which a
method finds everything or nothing, and results of several methods that depend on the same images.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import Interpolation, Metric, RocRule
from vocboard.evaluator.metrics.precision_recall import ELEVEN_RECALLS, Judgement, by_confidence
from vocboard.evaluator.metrics.roc import RankedItems
from vocboard.evaluator.statistics.average_precision import ResampledAveragePrecision
from vocboard.evaluator.statistics.image_shares import ImageShares
from vocboard.evaluator.statistics.resampled import Resampled
from vocboard.evaluator.statistics.roc import ResampledRoc

Random = np.random.Generator


class Population(ABC):
    """Images of one class, in unlimited number, and methods that are equally good."""

    @abstractmethod
    def true_score(self) -> float:
        """Return the score on all images."""

    @abstractmethod
    def draw(self, images: int, methods: int, random: Random) -> list[Resampled]:
        """Draw a test set, and the results of so many methods on it."""


@dataclass(frozen=True)
class Detections(Population):
    """Detection. Confidences of true positives are Beta(3, 1.5) distributed, those of false ones Beta(1, 3).

    Attributes:
        interpolation: of the average precision.
        objects: expected number per image; images differ.
        found: share of the objects that is detected, on average; images differ.
        false: expected number of false positives per image.
    """

    interpolation: Interpolation
    objects: float = 0.7
    found: float = 0.85
    false: float = 1.5

    def true_score(self) -> float:
        # Distribution functions on a fine grid of thresholds, from the highest.
        x = 1 - (np.arange(400_000) + 0.5) / 400_000
        density = x**2 * (1 - x) ** 0.5
        true = np.cumsum(density) / density.sum()
        false = (1 - x) ** 3
        recall = self.found * true
        precision = self.objects * recall / (self.objects * recall + self.false * false)
        best = np.maximum.accumulate(precision[::-1])[::-1]
        if self.interpolation is Interpolation.AREA:
            return float(np.sum(np.diff(recall, prepend=0.0) * best))
        reached = np.searchsorted(recall, ELEVEN_RECALLS)
        return float(np.append(best, 0.0)[reached].mean())

    def draw(self, images: int, methods: int, random: Random) -> list[Resampled]:
        number = random.poisson(random.gamma(1.0, self.objects, images))
        positive_image = np.repeat(np.arange(images, dtype=np.int32), number)
        return [self._results(images, positive_image, random) for _ in range(methods)]

    def _results(self, images: int, positive_image: NDArray[np.int32], random: Random) -> Resampled:
        share = random.beta(4 * self.found, 4 * (1 - self.found), images)
        hit = positive_image[random.random(len(positive_image)) < share[positive_image]]
        false = np.repeat(np.arange(images, dtype=np.int32), random.poisson(random.gamma(2.0, self.false / 2, images)))
        confidence = np.concatenate([random.beta(3, 1.5, len(hit)), random.beta(1, 3, len(false))])
        rank = by_confidence(confidence)
        true = (np.arange(len(rank)) < len(hit))[rank]
        judgement = Judgement(true, ~true, len(positive_image))
        image = np.concatenate([hit, false])[rank]
        return ResampledAveragePrecision(judgement, image, positive_image, self.interpolation)


@dataclass(frozen=True)
class Classified(Population):
    """Classification: normally distributed confidences of positive and negative images; AUC.

    Attributes:
        positive: share of the images.
        distance: between the means, in standard deviations.
    """

    positive: float = 0.15
    distance: float = 1.5

    def true_score(self) -> float:
        return 0.5 * (1 + math.erf(self.distance / 2))

    def draw(self, images: int, methods: int, random: Random) -> list[Resampled]:
        positive = random.random(images) < self.positive
        difficulty = random.normal(size=images) * math.sqrt(0.5)  # the same for all methods
        return [self._results(positive, difficulty, random) for _ in range(methods)]

    def _results(self, positive: NDArray[np.bool_], difficulty: NDArray[np.float64], random: Random) -> Resampled:
        confidence = difficulty + random.normal(size=len(positive)) * math.sqrt(0.5) + self.distance * positive
        rank = by_confidence(confidence)
        items = RankedItems(confidence[rank], positive[rank], ~positive[rank])
        return ResampledRoc(items, rank.astype(np.int32), Metric.ROC_AUC, RocRule.STRAIGHT_LINES)


@dataclass(frozen=True)
class Segmented(Population):
    """Segmentation: a fifth of the images has the class, with areas that differ tenfold.

    Attributes:
        shown: share of the images.
        right: expected share of the pixels that are right, missed and wrong; images differ.
    """

    shown: float = 0.2
    shares: tuple[float, float, float] = (0.7, 0.15, 0.15)

    def true_score(self) -> float:
        return self.shares[0]  # areas and shares are independent

    def draw(self, images: int, methods: int, random: Random) -> list[Resampled]:
        area = np.where(random.random(images) < self.shown, random.gamma(1.5, 10_000, images), 0)
        easy = random.gamma(6 * self.shares[0], size=images)  # the same for all methods
        return [self._results(area, easy, random) for _ in range(methods)]

    def _results(self, area: NDArray[np.float64], easy: NDArray[np.float64], random: Random) -> Resampled:
        others = [random.gamma(6 * share, size=len(area)) for share in self.shares[1:]]
        share = easy / (easy + others[0] + others[1])  # Dirichlet
        return ImageShares(np.round(area * share), np.round(area))


POPULATIONS: dict[str, Population] = {
    "AP area": Detections(Interpolation.AREA),
    "AP 11 points": Detections(Interpolation.ELEVEN_POINT),
    "AUC": Classified(),
    "IoU": Segmented(),
}
