"""Scores of a competition, and their JSON."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.names import CurveKind, Metric, Task


@dataclass(frozen=True, eq=False, slots=True)
class Curve:
    """A precision/recall curve at every rank.

    Attributes:
        recall: (n,) float64 fractions, non-decreasing; NaN if there are no positives.
        precision: (n,) float64 fractions; NaN if nothing has been counted yet.
    """

    kind: ClassVar[CurveKind] = CurveKind.PRECISION_RECALL

    recall: NDArray[np.float64]
    precision: NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class RocCurve:
    """A receiver operating characteristic: points from (0, 0) to (1, 1), joined by straight lines.

    Attributes:
        false_positive_rate: (n,) float64 fractions of the negatives, non-decreasing; NaN between the ends without any.
        true_positive_rate: (n,) float64 fractions of the positives, non-decreasing; NaN between the ends without any.
    """

    kind: ClassVar[CurveKind] = CurveKind.ROC

    false_positive_rate: NDArray[np.float64]
    true_positive_rate: NDArray[np.float64]

    @property
    def is_defined(self) -> bool:
        """Whether there are both positives and negatives."""
        return not (np.isnan(self.false_positive_rate).any() or np.isnan(self.true_positive_rate).any())


AnyCurve = Curve | RocCurve


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric over the classes entered, in the edition's order; NaN if undefined.

    Attributes:
        objects: for a metric of some objects of each class, their number; None for all others.
    """

    metric: Metric
    per_class: Mapping[str, float]
    objects: Mapping[str, int] | None = None

    @property
    def mean(self) -> float:
        """Mean over the classes for which the metric is defined; NaN if there are none."""
        defined = self._defined()
        # Not `sum`: it rounds otherwise from Python 3.12 on, and by the order of the classes.
        return math.fsum(defined) / len(defined) if defined else float("nan")

    @property
    def mean_over(self) -> int:
        """Number of classes in the mean."""
        return len(self._defined())

    def as_json(self) -> dict[str, Any]:
        """Return values, mean and the number of classes in it; undefined values are None."""
        numbers = {
            "per_class": {name: _number(value) for name, value in self.per_class.items()},
            "mean": _number(self.mean),
            "mean_over": self.mean_over,
        }
        return numbers if self.objects is None else numbers | {"objects": dict(self.objects)}

    def _defined(self) -> list[float]:
        return [value for value in self.per_class.values() if not math.isnan(value)]


@dataclass(frozen=True, slots=True)
class ClassDetails:
    """Counts behind one class's score.

    Attributes:
        positives: number of positives, without difficult ones unless the metric that ranks counts them.
        results: number of results: lines of the file, ranked items, parts of layouts.
        difficult: number of results that were ignored because they match difficult objects.
        final_recall: recall at the last rank; NaN without positives.
        final_precision: precision at the last rank; NaN if nothing was counted.
    """

    positives: int
    results: int
    difficult: int
    final_recall: float
    final_precision: float

    def as_json(self) -> dict[str, int | float | None]:
        """Return the counts for JSON; undefined values are None."""
        return {name: _number(value) for name, value in asdict(self).items()}


@dataclass(frozen=True, eq=False, slots=True)
class CompetitionScores:
    """The scores of one competition.

    Attributes:
        confusion_matrix: (n + 1, n + 1) int64 pixels: rows are the ground truth, columns the result, background first.
            Only for segmentation.
        images_by_label: (n + 1,) int64 number of test images with each true label, in the order of the matrix. Only for
            segmentation.
        not_entered: classes without results; not counted as zero.
        details: by class; those with a curve have them.

    Raises:
        ValueError: a class has a curve, but no details. The coarse curve that participants see needs its counts.
    """

    competition: str
    task: Task
    primary: Measure
    secondary: tuple[Measure, ...] = ()
    details: Mapping[str, ClassDetails] = field(default_factory=dict)
    curves: Mapping[str, AnyCurve] = field(default_factory=dict)
    confusion_matrix: NDArray[np.int64] | None = None
    images_by_label: NDArray[np.int64] | None = None
    not_entered: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that there are details for each curve."""
        if missing := self.curves.keys() - self.details.keys():
            raise ValueError(f"no details for the curves of {', '.join(sorted(missing))}")

    def as_json(self) -> dict[str, Any]:
        """Return everything except the curves, at full precision; undefined values are None."""
        scores = {
            "task": self.task.value,
            "metric": self.primary.metric.value,
            **self.primary.as_json(),
            "secondary": {measure.metric.value: measure.as_json() for measure in self.secondary},
            "details": {name: details.as_json() for name, details in self.details.items()},
            "not_entered": list(self.not_entered),
        }
        if self.confusion_matrix is not None:
            scores["confusion_matrix"] = self.confusion_matrix.tolist()
        return scores


def names_scored(scores: Iterable[CompetitionScores]) -> set[str]:
    """Return the names of tasks and metrics that have scores, for `extensions.used_by`."""
    return {name for each in scores for name in (each.task, *(of.metric for of in (each.primary, *each.secondary)))}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
