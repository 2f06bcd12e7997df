"""Several methods on the same test images: how hard images are, how far methods agree, what they reach together.

A method has no threshold here, because average precision has none. So a positive counts as found if it is among the
first results of its class, as many as the class has positives (for detection, if one of these results matches it). For
segmentation, a pixel is found if it has the right label. Everything is about shares of the positives of one class in
one image, because these are the same for all methods.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.evidence import Evidence, EvidenceByClass
from vocboard.evaluator.evidence.ranked_evidence import LabelledItems
from vocboard.evaluator.statistics.intervals import MIN_COUNTING_IMAGES

BINS = 10  # of the share of an image's positives that methods find
MIN_LENGTH = 1e-9  # of deviations; shorter ones are rounding errors

Shares = Mapping[str, NDArray[np.float64]]  # by class: (images,) share of its positives found; NaN without positives


@dataclass(frozen=True, slots=True)
class ClassDifficulty:
    """How hard a class is, over the images that show it.

    Attributes:
        images: their number.
        found: mean share that methods find.
        by_none: share of the images in which no method finds anything of the class.
        by_all: share of the images in which every method finds everything.
    """

    images: int
    found: float
    by_none: float
    by_all: float


@dataclass(frozen=True, eq=False, slots=True)
class Difficulty:
    """How hard the images of a test set are for several methods.

    Attributes:
        images: (images,) the mean over classes and methods of what is found; NaN for images without positives.
        classes: those that at least `MIN_COUNTING_IMAGES` images show.
    """

    images: NDArray[np.float64]
    classes: Mapping[str, ClassDifficulty]

    @property
    def histogram(self) -> list[int]:
        """How many images are in each tenth: found to at most 10 %, more than 10 and at most 20 %, and so on."""
        defined = self.images[~np.isnan(self.images)]
        tenth = np.clip(np.ceil(np.round(defined * BINS, 9)).astype(np.int64) - 1, 0, BINS - 1)
        return [int(number) for number in np.bincount(tenth, minlength=BINS)]


def difficulty(found: Sequence[Shares]) -> Difficulty:
    """Return how hard images and classes are.

    Args:
        found: of each method, in the same classes.
    """
    stacked = {name: np.stack([shares[name] for shares in found]) for name in found[0]}
    classes = {}
    total, number = np.zeros((2, next(iter(stacked.values())).shape[1]))
    for name, of_class in stacked.items():
        shown = ~np.isnan(of_class[0])
        of_methods = of_class[:, shown]
        total[shown] += of_methods.mean(axis=0)
        number[shown] += 1
        if np.count_nonzero(shown) >= MIN_COUNTING_IMAGES:
            classes[name] = ClassDifficulty(
                int(np.count_nonzero(shown)),
                float(of_methods.mean()),
                float((of_methods.max(axis=0) == 0).mean()),
                float((of_methods.min(axis=0) == 1).mean()),
            )
    images = np.full(len(total), np.nan)
    np.divide(total, number, out=images, where=number > 0)
    return Difficulty(images, classes)


def agreement(found: Sequence[Shares]) -> NDArray[np.float64]:
    """Return (m, m) correlations of what methods find, over all pairs of a class and an image that shows it.

    1 if two methods find the same, 0 if what one finds says nothing of the other. NaN for a method that finds the same
    share everywhere. It is Pearson's; where each image has one positive of a class at most, the phi coefficient.
    """
    units = np.stack([np.concatenate(list(shares.values())) for shares in found])
    return correlations(units[:, ~np.isnan(units[0])])


def correlations(units: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the (m, m) agreement of methods of which (m, n) shares are found; see `agreement`.

    Args:
        units: no NaN; the same n pairs of a class and an image for all methods.
    """
    deviation = units - units.sum(axis=1, keepdims=True) / max(units.shape[1], 1)  # a mean of nothing would warn
    length = np.sqrt((deviation**2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (deviation @ deviation.T) / np.outer(length, length)
    found[:, length < MIN_LENGTH] = found[length < MIN_LENGTH] = np.nan
    return np.asarray(np.clip(found, -1.0, 1.0))


class RankCombination:
    """A simple combination of methods: images in the order of their mean normalised rank in all of them.

    Ranks count from 0 to 1; images with equal confidence have the mean of their ranks. So a method cannot dominate by
    the scale of its confidences. Methods are added one by one, so that only the sum of their ranks is in memory.
    """

    def __init__(self) -> None:
        self._images = 0
        self._methods = 0
        self._first: dict[str, LabelledItems] = {}  # by class: the items of the first method
        self._ranks: dict[str, NDArray[np.int64]] = {}  # by class: (images,) sums, by increasing index of the image

    def add(self, evidence: Evidence) -> bool:
        """Add a method, in the same classes as those before.

        Returns:
            False if results of methods cannot be matched, so that they cannot be combined: in all tasks but
            classification, evidence does not say which results are about the same thing.
        """
        if not isinstance(evidence, EvidenceByClass):
            return False
        by_class = {}
        for name, items in evidence.classes.items():
            if not isinstance(items, LabelledItems) or len(np.unique(items.image)) < len(items.image):
                return False
            by_class[name] = items
        if not self._methods:
            self._images = evidence.images
            self._first = by_class
            self._ranks = {name: np.zeros(len(items.image), dtype=np.int64) for name, items in by_class.items()}
        for name, total in self._ranks.items():
            total += _double_ranks(by_class[name])  # noqa: PLW2901  # in place
        self._methods += 1
        return True

    def evidence(self) -> EvidenceByClass[LabelledItems]:
        """Return the evidence of the combination of the methods added so far, at least one."""
        classes = {}
        for name, total in self._ranks.items():
            first = self._first[name]
            ranks = total / (self._methods * _double_last(first))
            order = np.argsort(first.image)
            by_rank = np.argsort(ranks, kind="stable")
            image, label = first.image[order][by_rank], first.label[order][by_rank]
            classes[name] = replace(first, image=image, confidence=-ranks[by_rank], label=label)
        return EvidenceByClass(self._images, classes)


def combined(evidence: Iterable[Evidence]) -> EvidenceByClass[LabelledItems] | None:
    """Return the evidence of the combination of some methods in the same classes; None if they cannot be combined."""
    combination = RankCombination()
    return combination.evidence() if all(combination.add(each) for each in evidence) else None


def _double_ranks(items: LabelledItems) -> NDArray[np.int64]:
    """Return (n,) twice the rank of each image from 0 on: a whole number also where equal ones share a rank."""
    _, tie, size = np.unique(-items.confidence, return_inverse=True, return_counts=True)
    last = np.cumsum(size) - 1
    return np.asarray((2 * last - (size - 1))[tie][np.argsort(items.image)], dtype=np.int64)


def _double_last(items: LabelledItems) -> int:
    return 2 * max(len(items.image) - 1, 1)
