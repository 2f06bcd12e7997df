"""What an evaluation leaves behind: enough to score any selection of the test images, without the results.

Evidence does not depend on how scores are computed from it (overlap thresholds, interpolation, metrics), so it need not
be collected again for another metric. It tells the ground truth of each image.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from vocboard.evaluator.rules import Competition, Edition
from vocboard.evaluator.statistics.resampled import Resampled
from vocboard.evaluator.tasks.names import Metric


class ClassEvidence(ABC):
    """The evidence of one class: a dataclass of arrays."""

    @abstractmethod
    def resampled(self, metric: Metric, edition: Edition, competition: Competition) -> Resampled:
        """Return the score of the class in a metric.

        Raises:
            ValueError: it cannot be computed from this evidence.
        """


class Evidence(ABC):
    """The evidence of one competition's entry.

    Attributes:
        images: number of images of the test set.
    """

    __slots__ = ()
    images: int

    @abstractmethod
    def resampled(self, metric: Metric, edition: Edition, competition: Competition) -> Mapping[str, Resampled]:
        """Return the score of each class entered, in the edition's order.

        Args:
            metric: the competition's primary metric or one of the secondary ones.
            edition: the edition, whose rules apply.
            competition: the competition of the entry.

        Raises:
            ValueError: the metric cannot be computed from this evidence.
        """


AnyClass = TypeVar("AnyClass", bound=ClassEvidence)


@dataclass(frozen=True, eq=False, slots=True)
class EvidenceByClass(Evidence, Generic[AnyClass]):
    """The evidence of a task with ranked results for each class.

    Attributes:
        images: number of images of the test set.
        classes: by name, in the edition's order.
        others: the same for metrics whose true and false positives are others.
    """

    images: int
    classes: Mapping[str, AnyClass]
    others: Mapping[Metric, Mapping[str, AnyClass]] = field(default_factory=dict)

    def resampled(self, metric: Metric, edition: Edition, competition: Competition) -> Mapping[str, Resampled]:
        """Return the score of each class entered."""
        classes = self.others.get(metric, self.classes)
        return {name: evidence.resampled(metric, edition, competition) for name, evidence in classes.items()}


def not_possible(metric: Metric, evidence: object) -> ValueError:
    """Return the error for a metric that cannot be computed from some evidence."""
    return ValueError(f"{metric} cannot be computed from {type(evidence).__name__}")
