"""What evaluating a competition yields, and its JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evaluator.editions import Metric, Task


@dataclass(frozen=True, eq=False, slots=True)
class Curve:
    """A precision/recall curve at every rank.

    Attributes:
        recall: (n,) float64 fractions, non-decreasing; NaN if there are no positives.
        precision: (n,) float64 fractions; NaN where nothing has been counted yet.
    """

    recall: NDArray[np.float64]
    precision: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric over the classes entered, in the edition's order; NaN where undefined."""

    metric: Metric
    per_class: Mapping[str, float]

    @property
    def mean(self) -> float:
        """Mean over the classes where the metric is defined; NaN if it is defined for none."""
        defined = self._defined()
        return sum(defined) / len(defined) if defined else float("nan")

    @property
    def mean_over(self) -> int:
        """How many classes the mean is over."""
        return len(self._defined())

    def _defined(self) -> list[float]:
        return [value for value in self.per_class.values() if value == value]  # NaN differs from itself


@dataclass(frozen=True, slots=True)
class ClassDetails:
    """Counts behind one class's score.

    Attributes:
        positives: what there was to find, difficult ones not counted.
        results: what was entered: lines of the file, ranked items, parts of layouts.
        difficult: results that counted neither way because they met something difficult.
        final_recall: recall at the last rank; NaN without positives.
        final_precision: precision at the last rank; NaN if nothing counted.
    """

    positives: int
    results: int
    difficult: int
    final_recall: float
    final_precision: float


@dataclass(frozen=True, eq=False, slots=True)
class CompetitionScores:
    """Everything one competition's evaluation yields.

    Attributes:
        confusion_matrix: (n + 1, n + 1) int64 pixels, rows truth, columns result, background first; None but for
            segmentation.
        not_entered: classes without a result; never counted as zero.
    """

    competition: str
    task: Task
    primary: Measure
    secondary: tuple[Measure, ...] = ()
    details: Mapping[str, ClassDetails] = field(default_factory=dict)
    curves: Mapping[str, Curve] = field(default_factory=dict)
    confusion_matrix: NDArray[np.int64] | None = None
    not_entered: tuple[str, ...] = ()
