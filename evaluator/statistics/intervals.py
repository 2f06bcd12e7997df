"""Confidence intervals from bootstrap replicates.

The interval is a bias-corrected expanded percentile interval: the middle part of the replicates, a little more than
95 % of them if few images determine the score, moved so that their mean is at the score minus its bias (`bias`), and
widened by what is not known of the bias. Of the percentile, basic, bias-corrected, Student's and other intervals it was
the one that contained the true score, and the true mean of many classes, most nearly as often as it should in
simulations (docs/statistics.md). Source of the expansion: T. C. Hesterberg, "What Teachers Should Know About the
Bootstrap", The American Statistician 2015, section 4.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.evidence.weights import Weights
from vocboard.evaluator.scores import Measure
from vocboard.evaluator.statistics.bias import UNCERTAINTY, bias_of_mean
from vocboard.evaluator.statistics.influence import degrees_of_freedom, influences, student_quantile

LEVEL = 0.95  # of confidence
MIN_IMAGES = 2  # a single image says nothing about others
MIN_COUNTING_IMAGES = 10  # images: intervals from fewer contain the true score less often than they claim
MIN_ERROR = 1e-12  # smaller standard errors are rounding errors


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of a score.

    Attributes:
        low: lower end, a fraction; NaN if no replicate defines the score. At most the score.
        high: upper end. At least the score.
        standard_error: standard deviation of the replicates.
        bias: by how much the score is on average too high, as far as parts of the test set tell.
    """

    low: float
    high: float
    standard_error: float
    bias: float

    def as_json(self) -> dict[str, float | None]:
        """Return the numbers for JSON; undefined values are None."""
        values = {"low": self.low, "high": self.high, "standard_error": self.standard_error, "bias": self.bias}
        return {name: None if np.isnan(value) else value for name, value in values.items()}


@dataclass(frozen=True, eq=False, slots=True)
class ReplicatedScore:
    """A score, and the same score of each replicate.

    Attributes:
        score: on the test images; NaN if undefined.
        replicates: (b,) scores; NaN where undefined.
        influence: (images,) covariance of each image's weight and the score, over replicates.
        bias: by how much the score is on average too high; see `bias.bias_of`.
    """

    score: float
    replicates: NDArray[np.float64]
    influence: NDArray[np.float32]
    bias: float = 0.0

    def interval(self, level: float = LEVEL) -> Interval:
        """Return the middle part of the replicates that define the score, around the score minus its bias.

        It is within 0 to 1, and contains the score: if the bias is larger than the errors, which means of many classes
        can have, the interval ends at the score.
        """
        defined = self.replicates[~np.isnan(self.replicates)]
        if self.is_undefined or len(defined) < 2:
            return Interval(float("nan"), float("nan"), float("nan"), float("nan"))
        error = float(defined.std(ddof=1))
        if error <= MIN_ERROR:
            return Interval(self.score, self.score, error, self.bias)
        [freedom] = degrees_of_freedom(self.influence[None], len(defined)).tolist()
        normal = NormalDist()
        [expanded] = student_quantile(np.array([normal.inv_cdf((1 + level) / 2)]), freedom).tolist()
        outside = normal.cdf(-expanded)
        ends = np.quantile(defined, [outside, 1 - outside]) - defined.mean()
        ends *= math.hypot(1.0, UNCERTAINTY * self.bias / error)
        low, high = np.clip(self.score - self.bias + ends, 0.0, 1.0).tolist()
        return Interval(min(low, self.score), max(high, self.score), error, self.bias)

    @property
    def counting_images(self) -> int:
        """How many images determine the score, as far as its error shows; 0 if no replicate changes it.

        If n images contribute equally and the others nothing, these are n. See `degrees_of_freedom`.
        """
        defined = self.replicates[~np.isnan(self.replicates)]
        if len(defined) < 2 or defined.std(ddof=1) <= MIN_ERROR:
            return 0
        [freedom] = degrees_of_freedom(self.influence[None], len(defined)).tolist()
        return int(freedom)

    @property
    def is_undefined(self) -> bool:
        """Whether the score on the test images is undefined."""
        return bool(np.isnan(self.score))

    @property
    def undefined(self) -> int:
        """The number of replicates that do not define the score."""
        return int(np.count_nonzero(np.isnan(self.replicates)))

    def as_json(self, level: float = LEVEL) -> dict[str, Any]:
        """Return the interval, and how many replicates do not define the score."""
        return {**self.interval(level).as_json(), "undefined_replicates": self.undefined}


@dataclass(frozen=True, eq=False)
class ReplicatedMeasure:
    """One metric of one method, of each replicate.

    Attributes:
        measure: the scores on the test images.
        per_class: (classes, b) scores of the classes in `measure`, in its order; NaN where undefined.
        weights: (images, b) how often each replicate draws each image.
        biases: (classes,) by how much each score is on average too high; see `bias.bias_of`.
    """

    measure: Measure
    per_class: NDArray[np.float64]
    weights: Weights
    biases: NDArray[np.float64]

    @cached_property
    def influence(self) -> NDArray[np.float32]:
        """(classes + 1, images) influence of each image on each class and on the mean; see `influences`."""
        return influences(self.weights, np.vstack((self.per_class, mean_of_defined(self.per_class))))

    @property
    def mean(self) -> ReplicatedScore:
        """The mean over classes. As in the evaluation, each replicate's is over the classes that it defines."""
        bias = bias_of_mean(np.array(list(self.measure.per_class.values())), self.biases)
        return ReplicatedScore(self.measure.mean, mean_of_defined(self.per_class), self.influence[-1], bias)

    def of_class(self, name: str) -> ReplicatedScore:
        """Return the score of a class.

        Raises:
            KeyError: it was not entered.
        """
        place = list(self.measure.per_class).index(name) if name in self.measure.per_class else None
        if place is None:
            raise KeyError(name)
        bias = float(self.biases[place])
        return ReplicatedScore(self.measure.per_class[name], self.per_class[place], self.influence[place], bias)

    def as_json(self, level: float = LEVEL) -> dict[str, Any]:
        """Return the intervals of the mean and of each class."""
        return {
            "mean": self.mean.as_json(level),
            "per_class": {name: self.of_class(name).as_json(level) for name in self.measure.per_class},
        }


def mean_of_defined(per_class: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the (b,) mean over the classes that are defined, of (classes, b) scores; NaN if none is."""
    defined = ~np.isnan(per_class)
    number = defined.sum(axis=0)
    mean = np.full(len(number), np.nan)
    np.divide(np.where(defined, per_class, 0.0).sum(axis=0), number, out=mean, where=number > 0)
    return mean
