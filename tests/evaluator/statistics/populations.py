"""Made-up populations of images whose true scores are known, and test sets drawn from them.

Each population has what makes real test sets uncertain: images with many objects and with none, images in which a
method finds everything or nothing, and results of several methods that depend on the same images.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import Interpolation, Metric, RocRule
from vocboard.evaluator.evidence.average_precision import ResampledAveragePrecision
from vocboard.evaluator.evidence.best_f1 import ResampledBestF1
from vocboard.evaluator.evidence.frequency_weighted_iou import ResampledFrequencyWeightedIou
from vocboard.evaluator.evidence.image_shares import ImageShares
from vocboard.evaluator.evidence.normalised_precision import ResampledNormalisedPrecision
from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.evidence.roc import ResampledRoc
from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions
from vocboard.evaluator.metrics.normalised_precision import NORMAL_SHARE
from vocboard.evaluator.metrics.precision_recall import ELEVEN_RECALLS, Judgement, by_confidence
from vocboard.evaluator.metrics.roc import RankedItems

Random = np.random.Generator


class Population(ABC):
    """Images of one class, in unlimited number, and methods that are equally good."""

    @abstractmethod
    def true_score(self) -> float:
        """Return the score on all images."""

    @abstractmethod
    def draw(self, images: int, methods: int, random: Random) -> list[Resampled]:
        """Draw a test set, and the results of so many methods on it."""


@dataclass(frozen=True, eq=False)
class Ranked:
    """Results of one class by rank.

    Attributes:
        judgement: which are true and false positives.
        confidence: (n,)
        image: (n,) index of each result's image.
        positive_image: (p,) index of each object's image.
    """

    judgement: Judgement
    confidence: NDArray[np.float64]
    image: NDArray[np.int32]
    positive_image: NDArray[np.int32]


@dataclass(frozen=True)
class Detections(Population):
    """Detection. Confidences of true positives are Beta(3, 1.5) distributed, those of false ones Beta(1, 3).

    Attributes:
        objects: expected number per image; images differ.
        found: share of the objects that is detected, on average; images differ.
        false: expected number of false positives per image.
    """

    objects: float = 0.7
    found: float = 0.85
    false: float = 1.5

    def draw(self, images: int, methods: int, random: Random) -> list[Resampled]:
        number = random.poisson(random.gamma(1.0, self.objects, images))
        positive_image = np.repeat(np.arange(images, dtype=np.int32), number)
        return [self.scored(self._results(images, positive_image, random), images) for _ in range(methods)]

    @abstractmethod
    def scored(self, ranked: Ranked, images: int) -> Resampled:
        """Score the results of one method."""

    def by_threshold(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return recall and false positives per image on a fine grid of thresholds, from the highest."""
        x = 1 - (np.arange(400_000) + 0.5) / 400_000
        density = x**2 * (1 - x) ** 0.5
        return self.found * np.cumsum(density) / density.sum(), self.false * (1 - x) ** 3

    def highest_precision(self) -> float:
        """Return the highest precision at any threshold."""
        recall, false = self.by_threshold()
        return float(np.max(self.objects * recall / (self.objects * recall + false)))

    def average_precision(self, interpolation: Interpolation, objects: float) -> float:
        """Return the average precision on all images, with precision as if each had so many objects."""
        recall, false = self.by_threshold()
        precision = objects * recall / (objects * recall + false)
        best = np.maximum.accumulate(precision[::-1])[::-1]
        if interpolation is Interpolation.AREA:
            return float(np.sum(np.diff(recall, prepend=0.0) * best))
        reached = np.searchsorted(recall, ELEVEN_RECALLS)
        return float(np.append(best, 0.0)[reached].mean())

    def _results(self, images: int, positive_image: NDArray[np.int32], random: Random) -> Ranked:
        share = random.beta(4 * self.found, 4 * (1 - self.found), images)
        hit = positive_image[random.random(len(positive_image)) < share[positive_image]]
        false = np.repeat(np.arange(images, dtype=np.int32), random.poisson(random.gamma(2.0, self.false / 2, images)))
        confidence = np.concatenate([random.beta(3, 1.5, len(hit)), random.beta(1, 3, len(false))])
        rank = by_confidence(confidence)
        true = (np.arange(len(rank)) < len(hit))[rank]
        judgement = Judgement(true, ~true, len(positive_image))
        return Ranked(judgement, confidence[rank], np.concatenate([hit, false])[rank], positive_image)


@dataclass(frozen=True)
class AveragePrecision(Detections):
    """Average precision.

    Attributes:
        interpolation: of it.
    """

    interpolation: Interpolation = Interpolation.AREA

    def true_score(self) -> float:
        return self.average_precision(self.interpolation, self.objects)

    def scored(self, ranked: Ranked, images: int) -> Resampled:
        return ResampledAveragePrecision(ranked.judgement, ranked.image, ranked.positive_image, self.interpolation)


@dataclass(frozen=True)
class Binormal(Population):
    """Classification: normally distributed confidences of positive and negative images; average precision.

    Attributes:
        positive: share of the images.
        distance: between the means, in standard deviations of the negative ones.
        spread: standard deviation of the positive ones.
        interpolation: of average precision.
    """

    positive: float = 0.06
    distance: float = 2.0
    spread: float = 1.0
    interpolation: Interpolation = Interpolation.AREA

    def by_threshold(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return recall and precision on a fine grid of thresholds, from the highest."""
        threshold = np.linspace(self.distance + 7 * self.spread, -9, 40_001)
        recall, false = (
            np.array([normal.cdf(-each) for each in threshold])
            for normal in (NormalDist(-self.distance, self.spread), NormalDist())
        )
        return recall, self.positive * recall / (self.positive * recall + (1 - self.positive) * false)

    def highest_precision(self) -> float:
        """Return the highest precision at any threshold."""
        return float(np.max(self.by_threshold()[1]))

    def true_score(self) -> float:
        recall, precision = self.by_threshold()
        best = np.maximum.accumulate(precision[::-1])[::-1]
        if self.interpolation is Interpolation.AREA:
            return float(np.sum(np.diff(recall, prepend=0.0) * best))
        reached = np.searchsorted(recall, ELEVEN_RECALLS * (1 - 1e-12))
        return float(np.append(best, self.positive)[np.minimum(reached, len(best))].mean())

    def draw(self, images: int, methods: int, random: Random) -> list[Resampled]:
        positive = random.random(images) < self.positive
        difficulty = random.normal(size=images) * math.sqrt(0.5)  # the same for all methods
        return [self._results(positive, difficulty, random) for _ in range(methods)]

    def _results(self, positive: NDArray[np.bool_], difficulty: NDArray[np.float64], random: Random) -> Resampled:
        noise = difficulty + random.normal(size=len(positive)) * math.sqrt(0.5)
        rank = by_confidence(np.where(positive, self.distance + self.spread * noise, noise))
        true, image = positive[rank], np.flatnonzero(positive).astype(np.int32)
        judgement = Judgement(true, ~true, len(image))
        return ResampledAveragePrecision(judgement, rank.astype(np.int32), image, self.interpolation)


class NormalisedPrecision(Detections):
    """Normalised average precision."""

    def true_score(self) -> float:
        return self.average_precision(Interpolation.AREA, NORMAL_SHARE)

    def scored(self, ranked: Ranked, images: int) -> Resampled:
        normal = NORMAL_SHARE * images
        return ResampledNormalisedPrecision(ranked.judgement, ranked.image, ranked.positive_image, normal)


class BestF1(Detections):
    """The best F1."""

    def true_score(self) -> float:
        recall, false = self.by_threshold()
        true = self.objects * recall
        return float(np.max(2 * true / (true + false + self.objects)))

    def scored(self, ranked: Ranked, images: int) -> Resampled:
        return ResampledBestF1(ranked.judgement, ranked.confidence, ranked.image, ranked.positive_image)


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


@dataclass(frozen=True)
class Labelled(Population):
    """Segmentation: background in all images, and each of the classes in some; frequency-weighted IoU.

    Attributes:
        shown: share of the images with each class.
        right: expected share of the pixels of a label that are right; the others are divided equally among the others.
    """

    shown: tuple[float, ...] = (0.35, 0.2, 0.1)
    right: float = 0.7

    def true_score(self) -> float:
        area = np.array([80_000.0, *(12_000 * share for share in self.shown)])
        others = len(self.shown)
        expected = area[:, None] * np.where(np.eye(others + 1), self.right, (1 - self.right) / others)
        both = expected.diagonal()
        iou = both / (expected.sum(axis=0) + expected.sum(axis=1) - both)
        return float((area * iou).sum() / area.sum())

    def draw(self, images: int, methods: int, random: Random) -> list[Resampled]:
        shown = random.random((images, len(self.shown))) < self.shown
        area = np.column_stack(
            [random.gamma(8, 10_000, images), shown * random.gamma(1.5, 8_000, (images, len(self.shown)))]
        )
        easy = random.gamma(6 * self.right, size=images)  # the same for all methods
        return [self._results(area, easy, random) for _ in range(methods)]

    def _results(self, area: NDArray[np.float64], easy: NDArray[np.float64], random: Random) -> Resampled:
        labels = area.shape[1]
        shares = random.gamma(6 * (1 - self.right) / (labels - 1), size=(len(area), labels, labels))
        for label in range(labels):
            shares[:, label, label] = easy
        shares /= shares.sum(axis=2, keepdims=True)  # Dirichlet
        pixels = np.round(area[:, :, None] * shares).astype(np.int64)
        image, true, found = np.nonzero(pixels)
        confusions = ImageConfusions(
            image.astype(np.int32), true.astype(np.uint8), found.astype(np.uint8), pixels[image, true, found]
        )
        return ResampledFrequencyWeightedIou(confusions, labels)


@dataclass(frozen=True)
class Chosen(Population):
    """A forced choice between classes: the share of the images of a class for which it is chosen.

    Attributes:
        shown: share of the images that show the class.
        right: expected share of them for which it is chosen.
    """

    shown: float = 0.2
    right: float = 0.85

    def true_score(self) -> float:
        return self.right

    def draw(self, images: int, methods: int, random: Random) -> list[Resampled]:
        shown = random.random(images) < self.shown
        share = random.beta(4 * self.right, 4 * (1 - self.right), images)  # the same for all methods
        results = (shown & (random.random(images) < share) for _ in range(methods))
        return [ImageShares(right.astype(np.float64), shown.astype(np.float64)) for right in results]


POPULATIONS: dict[str, Population] = {
    "AP area": AveragePrecision(interpolation=Interpolation.AREA),
    "AP 11 points": AveragePrecision(interpolation=Interpolation.ELEVEN_POINT),
    "AUC": Classified(),
    "IoU": Segmented(),
    "normalised AP": NormalisedPrecision(),
    "best F1": BestF1(),
    "frequency-weighted IoU": Labelled(),
    "forced choice": Chosen(),
}
