"""Evidence stored by an evaluation: enough to score any selection of the test images, without the results.

Evidence does not depend on how scores are computed from it (overlap thresholds, interpolation, metrics), so it need not
be collected again for another metric. Exceptions are that of layouts (`JudgedResults`), which is judged by an overlap,
and metrics that have evidence of their own (`EvidenceByClass.others`). It tells the ground truth of each image. The
`metrics.py` of each task computes scores from it, and `Scorer.resampled` those of selections of the images.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.precision_recall import Judgement
from vocboard.evaluator.names import Metric
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Overlap, TaskRules


@dataclass(frozen=True, eq=False, slots=True)
class Judged:
    """Results of one class by rank, each true positive, false positive or ignored, and their images.

    Attributes:
        judgement: of n results with p positives.
        image: (n,) int32 index into `ImageSet.images` of each result.
        positive_image: (p,) int32 that of each positive.
    """

    judgement: Judgement
    image: NDArray[np.int32]
    positive_image: NDArray[np.int32]


class ClassEvidence(ABC):
    """The evidence of one class: a dataclass of arrays, each of one dimension.

    Files have them in the types that their annotations say, `NDArray[np.int32]`, which have to be real ones, not texts.

    Attributes:
        depends_on_overlap: whether the overlap that a result needs can be chosen after the evidence was collected.
    """

    __slots__ = ()
    depends_on_overlap: ClassVar[bool]

    @abstractmethod
    def judged(self, overlap: Overlap, rules: TaskRules, *, with_difficult: bool = False) -> Judged:
        """Tell which results are right.

        Args:
            overlap: the overlap that a result needs with its object; ignored unless `depends_on_overlap`.
            rules: of the competition.
            with_difficult: whether to treat difficult objects as ordinary ones.

        Raises:
            ValueError: the evidence does not tell which objects are difficult.
        """


class Evidence(ABC):
    """The evidence of one competition's entry.

    Attributes:
        images: number of images of the test set.
    """

    __slots__ = ()
    images: int


@dataclass(frozen=True, eq=False, slots=True)
class Source:
    """Source of evidence that was just collected, for metrics that need more than the evidence, such as boxes.

    Attributes:
        entry: the results.
        truth: ground truth of the task and image set.
        images: the image set.
    """

    entry: Entry
    truth: Any
    images: ImageSet


AnyClass = TypeVar("AnyClass", bound=ClassEvidence)


@dataclass(frozen=True, eq=False, slots=True)
class EvidenceByClass(Evidence, Generic[AnyClass]):
    """The evidence of a task with ranked results for each class.

    Attributes:
        images: number of images of the test set.
        classes: by name, in the edition's order.
        others: the same for metrics whose true and false positives are others, such as those of some objects.
        source: what it was collected from; None if it was stored in between, or no metric of the task needs it.
    """

    images: int
    classes: Mapping[str, AnyClass]
    others: Mapping[Metric, Mapping[str, AnyClass]] = field(default_factory=dict)
    source: Source | None = field(default=None, repr=False)

    def of(self, metric: Metric) -> Mapping[str, AnyClass]:
        """Return the evidence that a metric is computed from, by class."""
        return self.others.get(metric, self.classes)
